"""The table of corpora that `musicgen data` knows.

A size or a sum that is not known for certain is None, never a guess. Sums come from the publisher
where there are any. Lakh and JSB publish none; theirs are those that MusPy 0.5 and others recorded,
which agree with one another. None of the figures was checked by a download here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from musicgen.errors import DatasetError

_MAGENTA = "https://storage.googleapis.com/magentadata/datasets"
_LAKH = "http://hog.ee.columbia.edu/craffel/lmd"
_GITHUB = "https://github.com"
_BY = "https://creativecommons.org/licenses/by/4.0/"
_BY_NC_SA = "https://creativecommons.org/licenses/by-nc-sa/4.0/"
_MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A corpus that others publish.

    Attributes:
        name: What it is called on the command line.
        title: What its publisher calls it.
        about: What it holds, in one sentence.
        page: Where its publisher describes it.
        url: Its archive; None where it has to be fetched by hand.
        licence: The licence's short name, or that there is none.
        licence_url: The licence's text, or where the publisher speaks of it.
        terms: What that means for music and weights, in a sentence.
        citation: What to cite.
        size_bytes: The archive's size; None where the server alone knows it.
        most_bytes: A larger archive is not taken.
        sha256: The archive's sum; None where nobody publishes one.
        sum_from: Who tells the sum.
        n_files: MIDI files in it, as the publisher counts; None where unknown.
        hours: Of music; None where unknown.
        root: The folder inside the archive below which the music lies.
        split_table: CSV below `root` with the columns midi_filename and split.
        left_out: Patterns of paths below `root` that are not unpacked, and why they are not.
        why_left_out: The reason, as a part of a sentence.
    """

    name: str
    title: str
    about: str
    page: str
    url: str | None
    licence: str
    licence_url: str
    terms: str
    citation: str
    size_bytes: int | None = None
    most_bytes: int = 1000 * _MB
    sha256: str | None = None
    sum_from: Literal["publisher", "others", "nobody"] = "nobody"
    n_files: int | None = None
    hours: float | None = None
    root: str = ""
    split_table: str | None = None
    left_out: tuple[str, ...] = ()
    why_left_out: str = ""

    @property
    def limit_bytes(self) -> int:
        """The most bytes that its archive may have."""
        return self.most_bytes if self.size_bytes is None else self.size_bytes


_NOT_FOR_COMMERCE = (
    "Not for commerce, neither the files nor weights trained on them: share alike, with citation."
)
_WITH_ATTRIBUTION = "Free with attribution, for weights trained on it too."
_SONGS = (
    "The licence is for the collection; most of the songs are protected by others. For research; "
    "weights trained on it are not for publishing."
)
_MAESTRO_PAGE = "https://magenta.tensorflow.org/datasets/maestro"
_MAESTRO_CITATION = (
    "Hawthorne et al., Enabling Factorized Piano Music Modeling and Generation with the MAESTRO "
    "Dataset, ICLR 2019"
)
_LAKH_PAGE = "https://colinraffel.com/projects/lmd/"
_LAKH_CITATION = (
    "Raffel, Learning-Based Methods for Comparing Sequences, with Applications to Audio-to-MIDI "
    "Alignment and Matching, PhD thesis, Columbia University, 2016"
)

TABLE: tuple[Dataset, ...] = (
    Dataset(
        name="maestro-v3",
        title="MAESTRO v3.0.0, MIDI only",
        about="Virtuoso piano performances with pedal, recorded on Disklaviers; own split.",
        page=_MAESTRO_PAGE,
        url=f"{_MAGENTA}/maestro/v3.0.0/maestro-v3.0.0-midi.zip",
        licence="CC BY-NC-SA 4.0",
        licence_url=_BY_NC_SA,
        terms=_NOT_FOR_COMMERCE,
        citation=_MAESTRO_CITATION,
        size_bytes=58_416_533,
        sha256="70470ee253295c8d2c71e6d9d4a815189e35c89624b76d22fce5a019d5dde12c",
        sum_from="publisher",
        n_files=1276,
        hours=198.7,
        root="maestro-v3.0.0",
        split_table="maestro-v3.0.0.csv",
    ),
    Dataset(
        name="maestro-v2",
        title="MAESTRO v2.0.0, MIDI only",
        about="As version 3 with six recordings more; the shipped model learned from its train.",
        page=_MAESTRO_PAGE,
        url=f"{_MAGENTA}/maestro/v2.0.0/maestro-v2.0.0-midi.zip",
        licence="CC BY-NC-SA 4.0",
        licence_url=_BY_NC_SA,
        terms=_NOT_FOR_COMMERCE,
        citation=_MAESTRO_CITATION,
        size_bytes=59_243_107,
        sha256="ec2cc9d94886c6b376db1eaa2b8ad1ce62ff9f0a28b3744782b13163295dadf3",
        sum_from="publisher",
        n_files=1282,
        hours=201.2,
        root="maestro-v2.0.0",
        split_table="maestro-v2.0.0.csv",
    ),
    Dataset(
        name="asap",
        title="ASAP 1.1: Aligned Scores and Performances",
        about="Piano performances of 15 composers; half of them are from MAESTRO, its test too.",
        page=f"{_GITHUB}/fosfrancesco/asap-dataset",
        url=f"{_GITHUB}/fosfrancesco/asap-dataset/archive/v1.1.zip",
        licence="CC BY-NC-SA 4.0",
        licence_url=_BY_NC_SA,
        terms=_NOT_FOR_COMMERCE,
        citation=(
            "Foscarin et al., ASAP: a dataset of aligned scores and performances for piano "
            "transcription, ISMIR 2020"
        ),
        n_files=1067,
        hours=92,
        root="asap-dataset-1.1",
        left_out=("*midi_score*.mid",),
        why_left_out="scores without expression, which the performances play",
    ),
    Dataset(
        name="groove",
        title="Groove MIDI Dataset v1.0.0, MIDI only",
        about="Drums played by professionals; musicgen's piano scheme leaves drums out.",
        page="https://magenta.tensorflow.org/datasets/groove",
        url=f"{_MAGENTA}/groove/groove-v1.0.0-midionly.zip",
        licence="CC BY 4.0",
        licence_url=_BY,
        terms=_WITH_ATTRIBUTION,
        citation=(
            "Gillick et al., Learning to Groove with Inverse Sequence Transformations, ICML 2019"
        ),
        size_bytes=3_260_318,
        sha256="651cbc524ffb891be1a3e46d89dc82a1cecb09a57c748c7b45b844c4841dcc1e",
        sum_from="publisher",
        n_files=1150,
        hours=13.6,
        root="groove",
        split_table="info.csv",
    ),
    Dataset(
        name="lakh-full",
        title="Lakh MIDI Dataset v0.1, LMD-full",
        about="Files from all over the web, named by their MD5; some thousands are damaged.",
        page=_LAKH_PAGE,
        url=f"{_LAKH}/lmd_full.tar.gz",
        licence="CC BY 4.0",
        licence_url=_LAKH_PAGE,
        terms=_SONGS,
        citation=_LAKH_CITATION,
        size_bytes=1_768_163_879,
        sha256="6fcfe2ac49ca08f3f214cec86ab138d4fc4dabcd7f27f491a838dae6db45a12b",
        sum_from="others",
        n_files=176_581,
        root="lmd_full",
    ),
    Dataset(
        name="lakh-matched",
        title="Lakh MIDI Dataset v0.1, LMD-matched",
        about="Those of Lakh that were matched to the Million Song Dataset, many under two songs.",
        page=_LAKH_PAGE,
        url=f"{_LAKH}/lmd_matched.tar.gz",
        licence="CC BY 4.0",
        licence_url=_LAKH_PAGE,
        terms=_SONGS,
        citation=_LAKH_CITATION,
        size_bytes=1_407_072_670,
        sha256="621ff830aed771f469e5bfa13dc12a33c6ed69090adeda63d0b5c47783af0191",
        sum_from="others",
        n_files=45_129,
        root="lmd_matched",
    ),
    Dataset(
        name="lakh-clean",
        title="Lakh MIDI Dataset v0.1, clean MIDI subset",
        about="Those of Lakh whose names tell artist and title, more or less.",
        page=_LAKH_PAGE,
        url=f"{_LAKH}/clean_midi.tar.gz",
        licence="CC BY 4.0",
        licence_url=_LAKH_PAGE,
        terms=_SONGS,
        citation=_LAKH_CITATION,
        size_bytes=234_283_029,
        sha256="de1bb64cbc0cf35545a05b5c3e786aa6890cfa144edffc4b827ff41bf8c33dc5",
        sum_from="others",
        root="clean_midi",
    ),
    Dataset(
        name="pop909",
        title="POP909",
        about="Arrangements of Chinese pop songs in three parts: melody, bridge, piano.",
        page=f"{_GITHUB}/music-x-lab/POP909-Dataset",
        url=f"{_GITHUB}/music-x-lab/POP909-Dataset/archive/refs/heads/master.zip",
        licence="MIT",
        licence_url=f"{_GITHUB}/music-x-lab/POP909-Dataset/blob/master/LICENSE",
        terms=_SONGS,
        citation=(
            "Wang et al., POP909: A Pop-song Dataset for Music Arrangement Generation, ISMIR 2020"
        ),
        n_files=909,
        root="POP909-Dataset-master/POP909",
        left_out=("*/versions/*",),
        why_left_out="earlier versions of the same songs",
    ),
    Dataset(
        name="adl-piano",
        title="ADL Piano MIDI",
        about="The piano tracks of Lakh's songs, and two thousand files from elsewhere, by genre.",
        page=f"{_GITHUB}/lucasnfe/adl-piano-midi",
        url=f"{_GITHUB}/lucasnfe/adl-piano-midi/raw/master/midi/adl-piano-midi.zip",
        licence="none stated",
        licence_url=f"{_GITHUB}/lucasnfe/adl-piano-midi",
        terms=(
            "No licence is stated, and most of the songs are protected. For research; weights "
            "trained on it are not for publishing."
        ),
        citation=(
            "Ferreira, Lelis and Whitehead, Computer-Generated Music for Tabletop Role-Playing "
            "Games, AIIDE 2020"
        ),
        n_files=11_086,
        root="adl-piano-midi",
    ),
    Dataset(
        name="jsb-chorales",
        title="JSB Chorales",
        about="Bach's chorales in four parts, quantized and without expression; own split.",
        page="http://www-ens.iro.umontreal.ca/~boulanni/icml2012",
        url="http://www-ens.iro.umontreal.ca/~boulanni/JSB%20Chorales.zip",
        licence="none stated",
        licence_url="http://www-ens.iro.umontreal.ca/~boulanni/icml2012",
        terms="No licence is stated; Bach's music itself is in the public domain.",
        citation=(
            "Boulanger-Lewandowski, Bengio and Vincent, Modeling Temporal Dependencies in "
            "High-Dimensional Sequences, ICML 2012"
        ),
        size_bytes=215_242,
        sha256="69924294546a71620c06374085cd6b0300665ea215e2f854f65a11929f1e723c",
        sum_from="others",
        n_files=382,
        root="JSB Chorales",
    ),
    Dataset(
        name="giantmidi",
        title="GiantMIDI-Piano v1.2",
        about="Classical piano music that a network wrote down from recordings.",
        page=f"{_GITHUB}/bytedance/GiantMIDI-Piano/blob/master/disclaimer.md",
        url=None,
        licence="CC BY 4.0",
        licence_url=f"{_GITHUB}/bytedance/GiantMIDI-Piano#license",
        terms="The licence is for the files; rights in works and recordings are their owners'.",
        citation=(
            "Kong et al., GiantMIDI-Piano: A large-scale MIDI dataset for classical piano music, "
            "TISMIR 2022"
        ),
        n_files=10_855,
        hours=1237,
    ),
    Dataset(
        name="piano-midi-de",
        title="Classical Piano MIDI Page",
        about="Sequenced classical piano with a detailed tempo map, composer by composer.",
        page="http://www.piano-midi.de/midi_files.htm",
        url=None,
        licence="CC BY-SA 3.0 Germany",
        licence_url="http://www.piano-midi.de/copy.htm",
        terms="Free with the name of Bernd Krueger, under the same licence.",
        citation="Bernd Krueger, www.piano-midi.de",
    ),
)


def find_dataset(name: str) -> Dataset:
    """Return the corpus of that name.

    Raises:
        DatasetError: There is none.
    """
    for dataset in TABLE:
        if dataset.name == name:
            return dataset
    names = ", ".join(dataset.name for dataset in TABLE)
    raise DatasetError(
        f"There is no corpus {name[:60]!r} in the table.",
        hint=f"Choose {names}.",
        code="no-dataset",
    )
