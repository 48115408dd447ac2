"""The stories of a world, one module each: `tell(stage)` gives that story's mails.

Adding a story is adding a module and one line here.
"""

from collections.abc import Callable, Iterable

from services.demo.world.stage import Stage
from services.demo.world.stories import angry, automatic, forged, prospect, regular, reporters
from services.demo.world.things import Mail

Story = Callable[[Stage], Iterable[Mail]]
STORIES: tuple[Story, ...] = (
    regular.tell,
    prospect.tell,
    angry.tell,
    reporters.tell,
    automatic.tell,
    forged.tell,
)
