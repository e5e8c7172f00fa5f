"""Kernels of many blocks: ifs and loops in each other, by a seed."""

import random

from bodies import kernel

DEEPEST = 4  # so many ifs and loops in each other
TURNS = 2  # of each loop
BEGIN = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out]; ld.param.u32 %r2, [{name}_n];
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; mov.u32 %r4, 1;
"""
STEPS = (
    "ld.global.u32 %r5, [%rd1]; add.u32 %r4, %r4, %r5;",
    "mad.lo.u32 %r4, %r4, 5, %r1;",
    "xor.b32 %r4, %r4, 77;",
    "st.global.u32 [%rd2], %r4;",
)


def large(name: str, seed: int, branches: int, divergent: float = 0.05) -> str:
    """An entry `name(.u64 in, .u64 out, .u32 n)` with so many ifs and loops, which begin and end a block or two each;
    of the ifs so large a part depends on the thread, the others on `n`."""
    return kernel(BEGIN.format(name=name) + _Writer(seed, divergent).pieces(branches, 0) + "ret;", name)


class _Writer:
    def __init__(self, seed: int, divergent: float) -> None:
        self.random = random.Random(seed)
        self.divergent = divergent
        self.count = 0

    def pieces(self, branches: int, depth: int) -> str:
        """Ifs and loops one after the other, with straight code around each."""
        text = self.straight()
        while branches > 0:
            inside = self.random.randint(0, min(branches - 1, 8)) if depth < DEEPEST else 0
            text += self.random.choice((self.loop, self.lone_if, self.if_else))(inside, depth) + self.straight()
            branches -= 1 + inside
        return text

    def straight(self) -> str:
        return "\n".join(self.random.choices(STEPS, k=self.random.randint(1, 4))) + "\n"

    def loop(self, inside: int, depth: int) -> str:
        self.count += 1
        label, turn, again = f"LOOP_{self.count}", f"%turn{self.count}", f"%again{self.count}"
        return f"""
            .reg .b32 {turn}; .reg .pred {again}; mov.u32 {turn}, 0;
            {label}: {self.pieces(inside, depth + 1)}
            add.u32 {turn}, {turn}, 1; setp.lt.u32 {again}, {turn}, {TURNS}; @{again} bra {label};
        """

    def lone_if(self, inside: int, depth: int) -> str:
        test, label = self.test()
        return f"{test} {label}; {self.pieces(inside, depth + 1)} {label}:\n"

    def if_else(self, inside: int, depth: int) -> str:
        test, label = self.test()
        some = self.random.randint(0, inside)
        first, second = self.pieces(some, depth + 1), self.pieces(inside - some, depth + 1)
        return f"{test} {label}; {first} bra {label}_END;\n{label}: {second} {label}_END:\n"

    def test(self) -> tuple[str, str]:
        self.count += 1
        bits, holds = f"%bits{self.count}", f"%holds{self.count}"
        what = "%r1" if self.random.random() < self.divergent else "%r2"
        mask, value = self.random.randint(1, 31), self.random.randint(0, 3)
        declared = f".reg .b32 {bits}; .reg .pred {holds};"
        return f"{declared} and.b32 {bits}, {what}, {mask}; setp.eq.u32 {holds}, {bits}, {value}; @{holds} bra", (
            f"ELSE_{self.count}"
        )


def tensor_kernel(columns: int) -> str:
    """A kernel whose warpgroups accumulate tiles of 64 rows and so many columns on the tensor cores."""
    sums = [f"%f{i}" for i in range(columns // 2)]
    stores = "\n".join(f"st.global.f32 [%rd1+{512 * i}], {name};" for i, name in enumerate(sums))
    zeros = "\n".join(f"mov.f32 {name}, 0f00000000;" for name in sums)
    return f"""
.version 8.0
.target sm_90a
.address_size 64
.visible .entry tensor(.param .u64 out, .param .u64 a, .param .u64 b, .param .u32 k)
.reqntid 128
{{
.reg .pred %p<3>;
.reg .b32 %r<4>;
.reg .f32 %f<{len(sums)}>;
.reg .b64 %rd<6>;
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [a];
ld.param.u64 %rd3, [b];
ld.param.u32 %r1, [k];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd4, %r2, 4;
add.s64 %rd1, %rd1, %rd4;
{zeros}
LOOP:
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.f16.f16 {{{", ".join(sums)}}}, %rd2, %rd3, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
add.s64 %rd2, %rd2, 2;
add.s64 %rd3, %rd3, 2;
add.s32 %r1, %r1, -1;
setp.ne.s32 %p1, %r1, 0;
@%p1 bra LOOP;
{stores}
ret;
}}
"""
