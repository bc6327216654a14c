// What stands around every view: where one is, what waits, whether the page is up to date, and the keys.
import { useEffect, useRef, useState } from "preact/hooks";
import type { LiveState } from "./client.ts";
import { Problem } from "./components/problem.tsx";
import { ContextView } from "./context/index.tsx";
import { counted } from "./format.ts";
import { Home } from "./home/index.tsx";
import { KeysHelp } from "./keys-help.tsx";
import { goTo, useRoute } from "./navigation.ts";
import { useKeys, useParts } from "./parts.tsx";
import { ProjectView } from "./project/index.tsx";
import { addressOf, type Route } from "./router.ts";
import { useWatching } from "./watching.tsx";

export function Shell() {
  const route = useRoute();
  const { keyboard, announce } = useParts();
  const { known, state } = useWatching();
  const [areKeysShown, setKeysShown] = useState(false);
  const needs = known?.needs.length ?? 0;

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, defaultPrevented, repeat } = event;
      if (isInDialog(event.target)) return;
      const isTyping = isField(event.target);
      if (keyboard.press({ key, ctrlKey, metaKey, altKey, defaultPrevented, repeat, isTyping })) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [keyboard]);

  const before = useRef(needs);
  useEffect(() => {
    document.title = needs > 0 ? `(${needs}) Holdfast` : "Holdfast";
    if (known && needs > before.current) announce(`${counted(needs, "thing needs", "things need")} you`);
    before.current = needs;
  }, [known, needs, announce]);

  useKeys([
    { keys: "?", says: "these keys", run: () => setKeysShown(true) },
    { keys: "g n", says: "what needs you", run: () => goHome("needs") },
    { keys: "g c", says: "the contexts", run: () => goHome("contexts") },
    { keys: "Escape", says: "back", run: () => leave(route) },
  ]);

  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <header class="bar">
        <a class="brand" href="#/">
          holdfast
        </a>
        <Crumbs route={route} />
        <span class="grow" />
        {needs > 0 && (
          <a class="needs-count" href="#/">
            {needs} <span class="wide">{needs === 1 ? "needs" : "need"} you</span>
          </a>
        )}
        <Connection state={state} />
        <button type="button" class="quiet" aria-label="Keys" onClick={() => setKeysShown(true)}>
          ?
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {state === "refused" && <Problem says={CONNECTIONS.refused.title} />}
        <Content route={route} />
      </main>
      <div id="spoken" class="unseen" aria-live="polite" />
      {areKeysShown && <KeysHelp onClose={() => setKeysShown(false)} />}
    </>
  );
}

function Content({ route }: { route: Route }) {
  switch (route.kind) {
    case "home":
      return <Home />;
    case "project":
      return <ProjectView key={route.project} project={route.project} />;
    case "context": {
      const { project, context, view, seq, round } = route;
      const key = `${project}/${context}`;
      return <ContextView key={key} project={project} context={context} view={view} seq={seq} round={round} />;
    }
    case "unknown":
      return (
        <div class="alone">
          <h1>Nothing is at that address</h1>
          <p>
            <a href="#/">All contexts</a>
          </p>
        </div>
      );
  }
}

function Crumbs({ route }: { route: Route }) {
  const { known } = useWatching();
  if (route.kind === "home" || route.kind === "unknown") return null;
  const name = known?.projects.find(({ id }) => id === route.project)?.name ?? route.project;
  const title =
    route.kind === "context" && (known?.contexts.get(`${route.project}/${route.context}`)?.title ?? route.context);
  return (
    <nav class="crumbs" aria-label="Where you are">
      <a class="others" href={addressOf({ kind: "project", project: route.project })}>
        {name}
      </a>
      {title !== false && (
        <span class="others crumb-title" aria-current="page">
          {title}
        </span>
      )}
    </nav>
  );
}

const CONNECTIONS: Record<LiveState, { says: string; title: string }> = {
  connecting: { says: "connecting", title: "The page asks the monitor." },
  live: { says: "live", title: "What happens is shown as it happens." },
  lost: {
    says: "not live",
    title: "The monitor does not answer. What is shown may be old; the page asks again by itself.",
  },
  refused: {
    says: "refused",
    title: "Something else answers at this address, or the monitor was started anew: open the address that it printed.",
  },
};

function Connection({ state }: { state: LiveState }) {
  const { says, title } = CONNECTIONS[state];
  return (
    <span class={`connection ${state}`} title={title} role="status">
      {says}
    </span>
  );
}

/** What letters are typed into; a slider and a box to tick are not. */
const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("textarea, select, input:not([type=range], [type=checkbox])"));

/** It has its own keys, Escape above all. */
const isInDialog = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("dialog") !== null;

/** The part of the home view that gets the focus: by the id of its heading's section. */
function goHome(part: "needs" | "contexts"): void {
  goTo({ kind: "home" });
  requestAnimationFrame(() => {
    const section = document.getElementById(part);
    (section?.querySelector<HTMLElement>("[data-first], [role=grid]") ?? section)?.focus();
  });
}

/** Out of a field first, then a level up. */
function leave(route: Route): void {
  const active = document.activeElement;
  if (active instanceof HTMLElement && isField(active)) active.blur();
  else if (route.kind === "context") goTo({ kind: "project", project: route.project });
  else if (route.kind !== "home") goTo({ kind: "home" });
}
