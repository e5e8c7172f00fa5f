"""Every opcode of the integer family, in full, as ptxas takes it."""

import re
from itertools import product

INTEGER = "u16,u32,u64,s16,s32,s64"
ANY = "b16,b32,b64," + INTEGER
NUMBER = "u32,s32,f32,f16,bf16"  # the results of `set`

PATTERNS = f"""
    {{add,sub,min,max,sad,div,rem,mul.lo,mul.hi,mad.lo,mad.hi}}.{{{INTEGER}}}
    {{mul,mad}}.wide.{{u16,u32,s16,s32}}  {{abs,neg}}.{{s16,s32,s64}}  {{mul24,mad24}}.{{lo,hi}}.{{u32,s32}}
    {{add.sat,sub.sat,min.relu,max.relu,mad.hi.sat,mad24.hi.sat}}.s32
    {{add,min,max}}.{{u16x2,s16x2}}  {{min,max}}.relu.s16x2
    {{dp4a,dp2a.lo,dp2a.hi}}.{{u32,s32}}.{{u32,s32}}
    {{add.cc,addc,addc.cc,sub.cc,subc,subc.cc}}.{{u32,s32,u64,s64}}
    {{mad.lo.cc,mad.hi.cc,madc.lo,madc.hi,madc.lo.cc,madc.hi.cc}}.{{u32,s32,u64,s64}}

    {{and,or,xor,not}}.{{pred,b16,b32,b64}}  cnot.{{b16,b32,b64}}  {{lop3,lop3.and,lop3.or}}.b32
    shl.{{b16,b32,b64}}  shr.{{{ANY}}}  shf.{{l,r}}.{{clamp,wrap}}.b32
    bfe.{{u32,s32,u64,s64}}  bfi.{{b32,b64}}  bmsk.{{clamp,wrap}}.b32  szext.{{clamp,wrap}}.{{u32,s32}}
    {{popc,clz,brev}}.{{b32,b64}}  {{bfind,bfind.shiftamt}}.{{u32,s32,u64,s64}}  fns.b32
    prmt.b32  prmt.b32.{{f4e,b4e,rc8,ecl,ecr,rc16}}

    setp.{{eq,ne}}.{{{ANY}}}  setp.{{eq,ne}}.{{and,or,xor}}.{{{ANY}}}
    setp.{{lt,le,gt,ge}}.{{{INTEGER}}}  setp.{{lt,le,gt,ge}}.{{and,or,xor}}.{{{INTEGER}}}
    setp.{{lo,ls,hi,hs}}.{{u16,u32,u64}}  setp.{{lo,ls,hi,hs}}.{{and,or,xor}}.{{u16,u32,u64}}
    set.{{eq,ne}}.{{{NUMBER}}}.{{{ANY}}}  set.{{eq,ne}}.{{and,or,xor}}.{{{NUMBER}}}.{{{ANY}}}
    set.{{lt,le,gt,ge}}.{{{NUMBER}}}.{{{INTEGER}}}  set.{{lt,le,gt,ge}}.{{and,or,xor}}.{{{NUMBER}}}.{{{INTEGER}}}
    set.{{lo,ls,hi,hs}}.{{{NUMBER}}}.{{u16,u32,u64}}  set.{{lo,ls,hi,hs}}.{{and,or,xor}}.{{{NUMBER}}}.{{u16,u32,u64}}
    selp.{{{ANY},f32,f64}}  slct.{{{ANY},f32,f64}}.{{s32,f32}}  slct.ftz.{{{ANY},f32,f64}}.f32
"""


def expanded(pattern: str) -> list[str]:
    """The words that a pattern with alternatives in braces stands for."""
    return ["".join(word) for word in product(*(part.split(",") for part in re.split(r"[{}]", pattern)))]


OPCODES: tuple[str, ...] = tuple(opcode for pattern in PATTERNS.split() for opcode in expanded(pattern))
