"""What could not be proved, by which rule: raised anywhere in a proof, and a gap of the certificate in the end."""

from __future__ import annotations

from goptx.proof.certificate import Gap
from goptx.proof.code.kernel_code import NotProved
from goptx.proof.formulas import TooManyFormulas


class Failed(Exception):
    def __init__(self, rule: str, kernel: str, line: int, what: str) -> None:
        super().__init__(what)
        self.what = Gap(rule, kernel, line, what)


class rule:
    """What is not proved inside is not proved by that rule."""

    def __init__(self, rule: str, kernel: str) -> None:
        self.rule, self.kernel = rule, kernel

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, NotProved):
            raise Failed(self.rule, self.kernel, error.line, str(error)) from None
        if isinstance(error, TooManyFormulas | RecursionError):
            raise Failed(self.rule, self.kernel, 1, "the conditions of this kernel are too many to follow") from None
