"""The application: our own files, facts about runs as JSON, and news of them as server-sent events.

::

    GET  /                                     the page
    GET  /assets/NAME                          one of our files, by a fixed list of names
    GET  /api/runs                             how all runs stand
    GET  /api/runs/R                           everything about one run
    GET  /api/runs/R/importance                which parameters matter, worked out now; takes seconds
    GET  /api/runs/R/configurations/N          one configuration with its runs
    GET  /api/events                           news, as they come
    GET  /designer                             the utility designer
    GET  /api/designer/ABOUT                   what it asks: begin, judge, said, ask or smooth
    POST /api/runs/R/WISH                      pause, go-on, stop or extend; needs the token

Runs and configurations are numbers, files are looked up in a list: no part of an address is ever a path.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from utilitune.errors import UtilituneError
from utilitune.reports.dashboard.designing import Designer
from utilitune.reports.dashboard.guarding import Guard, Guarded
from utilitune.reports.dashboard.watching import Watcher
from utilitune.reports.dashboard.wishes import fulfil
from utilitune.reports.page import PAGE_SCRIPTS, asset

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from utilitune.reports.dashboard.watching import WatchedRun

_OWN_FILES = ("live.js", "designer.js", "designer.css")
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_SIGN_OF_LIFE_S = 15.0
_LONGEST_WISH = 10_000
_MOST_DIGITS = 9


class Dashboard:
    """What the routes answer.

    Args:
        runs: The runs that are shown.
    """

    def __init__(self, runs: Sequence[WatchedRun]) -> None:
        self.runs = tuple(runs)
        self._files = {name: asset(name) for name in (*PAGE_SCRIPTS, "page.css")}
        own = files("utilitune.reports.dashboard").joinpath("assets")
        self._files |= {name: own.joinpath(name).read_text(encoding="utf-8") for name in _OWN_FILES}
        self._pages = {
            place: own.joinpath(name).read_text(encoding="utf-8")
            for place, name in (("/", "index.html"), ("/designer", "designer.html"))
        }
        self._designer = Designer(self.runs)
        self._news = asyncio.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None

    def routes(self) -> list[Route]:
        """Where everything is found."""
        return [
            *(Route(place, self.page) for place in self._pages),
            Route("/assets/{name}", self.file),
            Route("/api/runs", self.overview),
            Route("/api/runs/{run}", self.run),
            Route("/api/runs/{run}/importance", self.importance),
            Route("/api/runs/{run}/configurations/{number}", self.configuration),
            Route("/api/runs/{run}/{wish}", self.wish, methods=["POST"]),
            Route("/api/events", self.events),
            Route("/api/designer/{about}", self.design),
        ]

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Watch the runs for as long as the server is up."""
        self._loop = asyncio.get_running_loop()
        watcher = Watcher(self.runs, self._tell)
        watcher.start()
        try:
            yield
        finally:
            await run_in_threadpool(watcher.stop)

    def _tell(self, _: int) -> None:
        """Wake all who wait for news; called in the watcher's thread."""
        if self._loop is not None and not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._wake(), self._loop)

    async def _wake(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def page(self, request: Request) -> Response:
        """A page itself."""
        return Response(self._pages[request.url.path], media_type="text/html")

    async def file(self, request: Request) -> Response:
        """One of our files."""
        name = request.path_params["name"]
        if name not in self._files:
            raise HTTPException(404)
        return Response(self._files[name], headers={"content-type": _TYPES[name.rpartition(".")[2]]})

    async def overview(self, _: Request) -> Response:
        """How all runs stand."""
        return _json([run.summary() for run in self.runs])

    async def run(self, request: Request) -> Response:
        """Everything about one run."""
        return _json(await run_in_threadpool(self._chosen(request).whole))

    async def importance(self, request: Request) -> Response:
        """Which parameters matter."""
        return _json(await run_in_threadpool(self._chosen(request).importance))

    async def configuration(self, request: Request) -> Response:
        """One configuration."""
        run = self._chosen(request)
        try:
            return _json(await run_in_threadpool(run.configuration, _number(request.path_params["number"])))
        except UtilituneError as error:
            raise HTTPException(404, str(error)) from None

    async def wish(self, request: Request) -> Response:
        """Do what somebody with the token wants."""
        run = self._chosen(request)
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > _LONGEST_WISH:
                raise HTTPException(413)
        try:
            settings = json.loads(bytes(body) or b"{}")
            said = await run_in_threadpool(fulfil, run.folder, request.path_params["wish"], settings)
        except UtilituneError as error:
            raise HTTPException(400, str(error)) from None
        except ValueError:
            raise HTTPException(400, "the body of a wish is JSON") from None
        return _json({"said": said})

    async def design(self, request: Request) -> Response:
        """What the designer asks."""
        designer = self._designer
        answers: dict[str, Callable[[Mapping[str, str]], dict[str, Any]]] = {
            "begin": lambda _: designer.beginning(),
            "judge": designer.judged,
            "said": designer.said,
            "ask": designer.asked,
            "smooth": designer.smoothed,
        }
        about = request.path_params["about"]
        if about not in answers:
            raise HTTPException(404)
        try:
            return _json(await run_in_threadpool(answers[about], request.query_params))
        except UtilituneError as error:  # half a sentence is no mistake of the page: nothing for its console
            return _json({"problem": str(error)})

    async def events(self, _: Request) -> Response:
        """News of all runs, as they come."""
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[bytes]:
        seen = [-1] * len(self.runs)
        digests = [0] * len(self.runs)
        yield b"retry: 2000\n\n"
        while True:
            for number, run in enumerate(self.runs):
                if run.revision == seen[number]:
                    continue
                update = await run_in_threadpool(run.update, digests[number] if seen[number] >= 0 else 2**62)
                seen[number] = update["revision"]
                digests[number] = update.get("digest_revision", 0)
                yield f"data: {_text({'run': number, **update})}\n\n".encode()
            async with self._news:
                if all(run.revision == old for run, old in zip(self.runs, seen, strict=True)):
                    try:
                        await asyncio.wait_for(self._news.wait(), _SIGN_OF_LIFE_S)
                    except TimeoutError:
                        yield b": still here\n\n"

    def _chosen(self, request: Request) -> WatchedRun:
        number = _number(request.path_params["run"])
        if number >= len(self.runs):
            raise HTTPException(404, "there is no such run")
        return self.runs[number]


def _number(text: str) -> int:
    """A number in an address."""
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise HTTPException(404, "there is nothing under this address")
    return int(text)


def application(runs: Sequence[WatchedRun], guard: Guard) -> ASGIApp:
    """The whole application, guarded."""
    dashboard = Dashboard(runs)

    async def refused(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        detail = error.detail if isinstance(error, HTTPException) else "a defect of ours"
        return PlainTextResponse(detail, status_code=status)

    app = Starlette(
        routes=dashboard.routes(), lifespan=dashboard.lifespan, exception_handlers={HTTPException: refused}
    )
    return Guarded(app, guard)


def _text(value: Any) -> str:  # noqa: ANN401 -- plain values
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _json(value: Any) -> Response:  # noqa: ANN401 -- plain values
    return Response(_text(value), media_type=JSONResponse.media_type)
