"""`musicgen attention`: what the model looked at in a piece, as a picture or as arrays."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musicgen.cli import options
from musicgen.cli.console import counted, session, visible
from musicgen.cli.paths import save, suffix_among, try_out
from musicgen.errors import ConfigError

if TYPE_CHECKING:
    from musicgen.pipeline import AttentionView


def attention(
    source: Annotated[Path, typer.Argument(metavar="IN.mid", help="The music to look at.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="OUT.png or OUT.npz.")
    ],
    layer: Annotated[
        int | None,
        typer.Option(
            parser=options.number(1, 10_000, whole=True),
            help="One layer only, counted from 1.",
            metavar="L",
        ),
    ] = None,
    head: Annotated[
        int | None,
        typer.Option(
            parser=options.number(1, 10_000, whole=True),
            help="One head only, counted from 1.",
            metavar="H",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            parser=options.number(0, 1_000_000, above_low=True),
            help="Look at the first S seconds only.",
            metavar="S",
        ),
    ] = None,
    habits: Annotated[
        bool,
        typer.Option("--habits", help="Also say what each head is in the habit of looking at."),
    ] = False,
    model: options.Model = "piano",
    device: options.Device = "auto",
    as_json: options.AsJson = False,
) -> None:
    """Show which earlier notes the model attended to.

    At each note; as a picture (.png) or as numbers (.npz).

    The .npz holds `weights` (layers, heads, T, T) as float16, those of layer 1 first, `ids` (T,
    attributes), `note_index` (T,) and `notes` (N, 4: onset_s, end_s, pitch, velocity).
    """
    with session(as_json=as_json) as console:
        suffix = suffix_among(output, (".png", ".npz"))
        try_out([output], inputs=[source])

        _check_choice(model, layer, head)

        from musicgen.checkpoint import find_device

        find_device(device)  # one that is missing is said before all else is imported and loaded
        console.progress(f"Loading the model {model} ...")

        from musicgen.pipeline import MusicPipeline

        pipeline = MusicPipeline.load(model, device=device)
        view = pipeline.attention(source, seconds=seconds)
        n_layers, n_heads = view.weights.shape[:2]
        layers = _chosen("layer", layer, n_layers)
        heads = _chosen("head", head, n_heads)
        if suffix == ".npz":
            data = _arrays(view, layers, heads)
        else:
            data = _picture(view, layers, heads, title=visible(source.name))
        save(output, data)
        found = _habits(view, source, layers, heads) if habits else []
        console.result(
            {
                "file": str(output),
                "layers": _numbers(layers),
                "heads": _numbers(heads),
                "events": len(view.ids),
                "notes": len(view.notes),
                **({"habits": found} if habits else {}),
            },
            f"{output}: {_which(view)}, {len(layers)} of {n_layers} layers, "
            f"{len(heads)} of {n_heads} heads",
            *(f"layer {each['layer']}, head {each['head']}: {each['words']}" for each in found),
        )


def _habits(view: AttentionView, source: Path, layers: range, heads: range) -> list[dict[str, Any]]:
    """Return what each chosen head looks at, in words and as shares; by bars that notes keep to."""
    from musicgen.inspection import find_habits
    from musicgen.midi import find_meter, read_midi

    meter = find_meter(read_midi(source).score)
    has_bars = meter is not None and meter.is_kept_to and len(meter.bar_beats) > 1
    lines = {"beat_s": meter.beat_s, "bar_s": meter.bar_s} if meter and has_bars else {}
    measured = find_habits(view, **lines)
    return [
        {
            "layer": layer + 1,
            "head": head + 1,
            "words": measured.sentence(layer, head),
            "shares": {
                kind: round(float(share), 4)
                for kind, share in zip(measured.kinds, measured.weights[layer, head], strict=True)
            },
        }
        for layer in layers
        for head in heads
    ]


def _which(view: AttentionView) -> str:
    notes = counted(len(view.notes), "note")
    return f"the last {notes}, which the model's window holds" if view.first_event else notes


def _check_choice(model: str, layer: int | None, head: int | None) -> None:
    """Refuse a layer or head that the model lacks before it is loaded, which takes seconds."""
    from musicgen.checkpoint import checkpoint_sizes

    sizes = checkpoint_sizes(model)
    for what, wanted in (("layer", layer), ("head", head)):
        count = sizes.get(f"n_{what}s") if isinstance(sizes, dict) else None
        if isinstance(count, int):  # else the checkpoint is damaged, which loading says
            _chosen(what, wanted, count)


def _chosen(what: str, wanted: int | None, count: int) -> range:
    """Return indices, counted from 0, of what was asked for by a number counted from 1."""
    if wanted is None:
        return range(count)
    if wanted > count:
        raise ConfigError(
            f"There is no {what} {wanted}: this model's {what}s are 1 to {count}.",
            hint=f"Choose --{what} in that range, or leave it out to see all of them.",
        )
    return range(wanted - 1, wanted)


def _numbers(indices: range) -> list[int]:
    """Return what people call these: the first is number 1, as in the studio."""
    return [i + 1 for i in indices]


def _arrays(view: AttentionView, layers: range, heads: range) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        weights=view.weights[layers.start : layers.stop, heads.start : heads.stop],
        ids=view.ids,
        note_index=view.note_index,
        notes=view.notes,
    )
    return buffer.getvalue()


def _picture(view: AttentionView, layers: range, heads: range, *, title: str) -> bytes:
    import numpy as np

    from musicgen.figures import attention_figure, layers_heads_figure

    if len(layers) == len(heads) == 1:
        # An event that is no note stands at the time of the note before it.
        onset_s = view.notes[view.note_index, 0] * (view.note_index >= 0)
        return attention_figure(
            view.weights[layers.start, heads.start],
            times_s=np.maximum.accumulate(onset_s),
            has_end=view.has_end,
            title=f"{title}: layer {layers.start + 1}, head {heads.start + 1}",
        )
    return layers_heads_figure(
        view.weights[layers.start : layers.stop, heads.start : heads.stop],
        first_layer=layers.start + 1,
        first_head=heads.start + 1,
        has_end=view.has_end,
        title=title,
    )
