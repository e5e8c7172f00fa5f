"""A lexer of PTX for Pygments, with the tokens of grammar/Ptx.g4. It needs Pygments, goptx's extra `notebook`.

Any word at the beginning of a statement is an opcode, so that opcodes newer than goptx are coloured too.
"""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, default, include, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
)

NAME = r"[a-zA-Z_$%][a-zA-Z0-9_$]*"
WORD = r"(?:[a-zA-Z_]|[0-9]+[dx])[a-zA-Z0-9_$]*(?:::[a-zA-Z0-9_$]+)*"  # after a dot
TYPES = (
    r"\.(?:[busf](?:8|16|32|64|128)|b?f16(?:x2)?|tf32|e[245]m[0-9](?:x[0-9]+)?|ue8m0(?:x2)?|pred|texref|samplerref|surfref)"
    r"\b"
)
ENDING = ".version .target .address_size .loc .file".split()  # directives that end with their line
SPECIAL = """
    aggr_smem_size clock clock64 clock_hi cluster_ctaid cluster_ctarank cluster_nctaid cluster_nctarank clusterid ctaid
    current_graph_exec dynamic_smem_size globaltimer globaltimer_hi globaltimer_lo gridid is_explicit_cluster laneid
    lanemask_eq lanemask_ge lanemask_gt lanemask_le lanemask_lt nclusterid nctaid nsmid ntid nwarpid
    reserved_smem_offset_begin reserved_smem_offset_cap reserved_smem_offset_end smid tid total_smem_size warpid
""".split()
NUMBERED = r"(?:envreg|pm|reserved_smem_offset_)[0-9]+(?:_64)?"
AXIS = r"(?:\.[xyzwrgba]\b)?"
FLOAT = r"0[fFdD][0-9a-fA-F]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"


class PtxLexer(RegexLexer):  # type: ignore[misc]
    """NVIDIA's PTX ISA, of any version."""

    name = "PTX"
    aliases: ClassVar = ["ptx"]
    filenames: ClassVar = ["*.ptx"]
    mimetypes: ClassVar = ["text/x-ptx"]
    url = "https://docs.nvidia.com/cuda/parallel-thread-execution/"

    tokens: ClassVar = {
        "root": [
            include("blank"),
            (rf"(@)(\s*)(!?)(\s*)({NAME})", bygroups(Operator, Whitespace, Operator, Whitespace, Name.Variable)),
            (rf"({NAME})(\s*)(:)(?!:)", bygroups(Name.Label, Whitespace, Punctuation)),
            (words(ENDING, suffix=r"\b"), Keyword.Declaration, "to the end of the line"),
            (TYPES, Keyword.Type, "declaration"),
            (rf"\.{WORD}", Keyword.Declaration, "declaration"),
            (r"[a-zA-Z_][a-zA-Z0-9_$]*", Name.Function, "modifiers"),
            include("operand"),
            (r"[;{}]", Punctuation),
        ],
        "modifiers": [
            (TYPES, Keyword.Type),
            (rf"(?:\.{WORD}|::[a-zA-Z0-9_$]+)(?:\[[0-9]+\])?", Name.Attribute),
            default(("#pop", "operands")),
        ],
        "operands": [
            (r";", Punctuation, "#pop"),
            (r"[{}]", Punctuation),
            include("blank"),
            include("operand"),
        ],
        "declaration": [
            (r"[;{}]", Punctuation, "#pop"),
            (r"=", Operator, ("#pop", "operands")),
            include("blank"),
            (words(ENDING, suffix=r"\b"), Keyword.Declaration, ("#pop", "to the end of the line")),
            include("operand"),
        ],
        "to the end of the line": [
            (r"\n", Whitespace, "#pop"),
            (r"[;{}]", Punctuation, "#pop"),
            include("blank"),
            include("operand"),
        ],
        "blank": [
            (r"\s+", Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r"/\*(?s:.*?)\*/", Comment.Multiline),
            (r"#[ \t]*(?:line[ \t]+)?[0-9][^\n]*|@@DWARF[^\n]*", Comment.Preproc),
        ],
        "operand": [
            (rf"%(?:{'|'.join(SPECIAL)}|{NUMBERED})(?![a-zA-Z0-9_$]){AXIS}|WARP_SZ\b", Name.Variable.Magic),
            (rf"%[a-zA-Z0-9_$]+{AXIS}", Name.Variable),
            (r'"[^"\r\n]*"', String),
            (FLOAT, Number.Float),
            (r"0[xX][0-9a-fA-F]+U?", Number.Hex),
            (r"0[bB][01]+U?", Number.Bin),
            (r"[0-9]+U?", Number.Integer),
            (TYPES, Keyword.Type),
            (rf"\.{WORD}", Keyword.Declaration),
            (r"[a-zA-Z_$][a-zA-Z0-9_$]*(?:(?:\.|::)[a-zA-Z0-9_$]+)*", Name),
            (r"[-+*/%<>=!&|^~?]+", Operator),
            (r"[\[\](),:.]", Punctuation),
        ],
    }  # fmt: skip
