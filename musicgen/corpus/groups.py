"""Which pieces are the same music, which of them is kept, and who must stay on one side.

Two pieces are duplicates if the same keys are played at the same milliseconds with the same
velocities; near-duplicates if they share enough shingles (`similar`). Who is kept depends on the
music, not on file names, except between duplicates, which are alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from musicgen.corpus.components import Components
from musicgen.corpus.music import Music
from musicgen.corpus.similar import Pair, share_of, similar_pairs

_HELD_FIRST = {"test": 0, "validation": 1, "": 2, "train": 3}
"""Of duplicates in a folder's own splits the one is kept that is not trained on."""
_MOST_ASKED = 64  # kept pieces of a group with which a further one is compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """A piece that is left out because another holds its music.

    Attributes:
        code: "duplicate" or "near-duplicate".
        of: Number of the piece that is kept.
        message: What they share, as a sentence about this piece.
    """

    code: str
    of: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """The outcome; pieces are told by their numbers.

    Attributes:
        kept: Pieces with music of their own, ascending.
        twins: The others.
        group: Of every piece, the name of its group: pieces of one hold the same music, or are
            joined by pieces that do.
        across: Pairs of near-duplicates on two sides of the folder's own split.
    """

    kept: tuple[int, ...]
    twins: Mapping[int, Twin]
    group: tuple[str, ...]
    across: tuple[Pair, ...]


def sort_out(names: Sequence[str], music: Sequence[Music], sides: Sequence[str]) -> Sorted:
    """Find the twins among pieces.

    Args:
        names: What to call the pieces in sentences.
        music: What is known of them.
        sides: Of each piece the split that the folder's own layout gives it ("train", "validation",
            "test"), or "" throughout where there is no such layout. Near-duplicates on two sides
            are left where they are and told in `across`.
    """
    twins: dict[int, Twin] = {}
    first: dict[str, int] = {}
    for number in sorted(range(len(music)), key=lambda n: (_HELD_FIRST[sides[n]], n)):
        of = first.setdefault(music[number].digest, number)
        if of != number:
            twins[number] = Twin(
                code="duplicate", of=of, message=f"It holds the same music as {names[of]}."
            )
    alone = sorted(first.values())
    found = similar_pairs([music[number] for number in alone])
    pairs = [Pair(first=alone[p.first], second=alone[p.second], share=p.share) for p in found]
    across = tuple(pair for pair in pairs if sides[pair.first] != sides[pair.second])
    inside = [pair for pair in pairs if sides[pair.first] == sides[pair.second]]
    twins.update(_near(names, music, inside))
    links = [(pair.first, pair.second) for pair in inside]
    links += [(number, twin.of) for number, twin in twins.items() if twin.code == "duplicate"]
    return Sorted(
        kept=tuple(number for number in alone if number not in twins),
        twins=twins,
        group=_groups(music, links),
        across=across,
    )


def _near(names: Sequence[str], music: Sequence[Music], pairs: Sequence[Pair]) -> dict[int, Twin]:
    """Keep what is likest to all the others around it: mostly what they were made from.

    Every piece left out is like one that is kept.
    """
    central: dict[int, float] = {}
    components = Components(len(music))
    for pair in pairs:
        components.join(pair.first, pair.second)
        for number in (pair.first, pair.second):
            central[number] = central.get(number, 0.0) + pair.share
    order = sorted(
        central, key=lambda n: (-round(central[n], 6), -music[n].n_notes, music[n].digest)
    )
    rank = {number: place for place, number in enumerate(order)}
    twins: dict[int, Twin] = {}
    kept_of: dict[int, list[int]] = {}
    for number in order:
        kept = kept_of.setdefault(components.root(number), [])
        # Not every pair of like pieces was compared: ask for those that are kept.
        shares = {of: share_of(music[number], music[of]) for of in kept[:_MOST_ASKED]}
        of = max(shares, key=lambda each: (shares[each], -rank[each]), default=-1)
        if of >= 0 and shares[of]:
            message = _difference(names[of], shares[of], music[number], music[of])
            twins[number] = Twin(code="near-duplicate", of=of, message=message)
        else:
            kept.append(number)
    return twins


def _difference(name: str, share: float, piece: Music, other: Music) -> str:
    """Say how a piece resembles another, and what sets them apart."""
    found = [f"It shares {share:.0%} of its figures with {name}"]
    semitones = piece.semitones_above(other)
    if semitones:
        steps = "1 semitone" if abs(semitones) == 1 else f"{abs(semitones)} semitones"
        found.append(f"{steps} {'higher' if semitones > 0 else 'lower'}")
    tempo = other.seconds / piece.seconds if piece.seconds else 1.0
    if not 0.98 < tempo < 1.02:
        found.append(f"{tempo:.2f} times as fast" if tempo < 100 else "far faster")
    return ", ".join(found) + "."


def _groups(music: Sequence[Music], links: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Name each piece's group after the smallest digest in it."""
    components = Components(len(music))
    for one, other in links:
        components.join(one, other)
    roots = [components.root(number) for number in range(len(music))]
    names: dict[int, str] = {}
    for root, piece in zip(roots, music, strict=True):
        names[root] = min(names.get(root, piece.digest), piece.digest)
    return tuple(names[root][:12] for root in roots)
