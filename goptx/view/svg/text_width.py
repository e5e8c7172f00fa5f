"""How wide a text is in a picture, and texts that fit a given width.

Widths are the advances of DejaVu Sans, DejaVu Sans Bold and DejaVu Sans Mono. Readers see the font of their system: on
Linux one of the same width, on Windows and macOS a narrower one. A letter outside ASCII counts as the widest letter
that such fonts have.
"""

from __future__ import annotations

from dataclasses import dataclass

_PLAIN = """
    318 401 460 838 637 951 780 275 391 391 500 838 318 361 318 337 637 637 637 637 637 637 637 637 637 637 337 337
    838 838 838 531 1000 685 687 699 771 632 576 775 752 295 295 656 558 863 749 788 604 788 695 635 611 732 685 989
    686 611 686 391 337 391 838 500 500 613 635 550 635 616 353 635 634 278 278 580 278 975 634 612 635 635 412 521
    393 634 592 818 592 592 525 637 337 637 838
""".split()
_BOLD = """
    349 457 521 838 696 1002 873 307 458 458 523 838 380 416 380 366 696 696 696 696 696 696 696 696 696 696 400 400
    838 838 838 581 1000 774 763 734 831 684 684 821 837 373 373 775 638 996 837 851 733 851 771 721 683 813 774
    1104 771 725 726 458 366 458 838 500 500 675 716 593 716 679 436 716 712 343 343 666 343 1042 712 688 716 716
    494 596 479 712 652 924 646 652 583 712 366 712 838
""".split()
_MONO, _WIDE, _OTHER = 603, 1000, 1300  # thousandths of the size: monospaced, "…" and Latin letters, any other letter
_WIDTHS = {bold: [int(w) for w in widths] for bold, widths in ((False, _PLAIN), (True, _BOLD))}


@dataclass(frozen=True, slots=True)
class Font:
    """A font of pictures; `size` in pixels."""

    size: float
    bold: bool = False
    mono: bool = False


PLAIN, CODE, HEAD, NAME = Font(11), Font(11, mono=True), Font(14, bold=True), Font(11, bold=True)


def text_width(text: str, font: Font = PLAIN) -> float:
    """An upper bound of the pixels that the text takes."""
    return sum(_thousandths(letter, font) for letter in text) * font.size / 1000


def _thousandths(letter: str, font: Font) -> int:
    code = ord(letter)
    if 32 <= code < 127:
        return _MONO if font.mono else _WIDTHS[font.bold][code - 32]
    return _WIDE if code < 0x250 or letter == "…" else _OTHER


def fitted(text: str, width: float, font: Font = PLAIN) -> str:
    """The text if it takes at most `width` pixels; a longer one loses its middle. Empty if not even "…" fits."""
    if text_width(text, font) <= width:
        return text
    low, high = 0, min(len(text), int(width / font.size * 5) + 2)  # no letter is narrower than a fifth of the size
    while low < high:
        letters = (low + high + 1) // 2
        low, high = (letters, high) if text_width(short(text, letters), font) <= width else (low, letters - 1)
    return short(text, low) if low else ""


def short(text: str, letters: int) -> str:
    """The text with at most `letters` letters; a longer one loses its middle."""
    if len(text) <= letters:
        return text
    front = letters // 2
    return f"{text[:front]}…{text[len(text) - (letters - 1 - front) :]}"


def lines_of(text: str, width: float, font: Font = PLAIN) -> list[str]:
    """The text in lines of at most `width` pixels, broken between words; a word that is longer loses its middle."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else ""
        if longer and text_width(longer, font) <= width:
            lines[-1] = longer
        else:
            lines.append(fitted(word, width, font))
    return lines
