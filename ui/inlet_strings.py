"""What is said of files on their way to the studio; the page's own script says it."""

from __future__ import annotations

from typing import Final

INLET: Final = {
    "packing": "Packing {files} files …",
    "packed": "{files} files were packed into one zip: so many by themselves would stop the page.",
    "tooMany": "These {files} files have {mb} MB together; {most} MB are the most at once. Give "
    "them in parts, or name their folder under “A folder”, which has no such limit.",
    "tooLarge": "{name} has {mb} MB and was left out; {most} MB are the most.",
    "noMusic": "There is no MIDI file in that folder.",
    "unread": "The browser could not read these files. Zip their folder, and give the zip.",
    "tooLargeThere": "Too large for the server, or for a proxy before it.",
    "refused": "It did not arrive. Load the page again, and give it once more.",
    "unreached": "It did not arrive: the studio does not answer.",
}
