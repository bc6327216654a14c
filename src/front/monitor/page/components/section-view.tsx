// One section of text as it is: said, printed, changed. Only ever text, and so much of it at a time as a browser lays out at once.
import { useState } from "preact/hooks";
import type { TextSection } from "../../context-api.ts";
import { byteCount, counted } from "../format.ts";
import { CopyButton } from "./copy-button.tsx";

/** Lines that are shown at first. */
const FIRST_LINES = 300;
const FIRST_CHARS = 20_000;

export function SectionView({ section }: { section: TextSection }) {
  const { label, form, text, bytes } = section;
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : startOf(text);
  const hidden = lineCount(text) - lineCount(shown);
  return (
    <section class="section" aria-label={label}>
      <div class="section-head">
        <h3 class="others">{label}</h3>
        {bytes !== undefined && <span class="quiet-ink">the start of {byteCount(bytes)}</span>}
        <span class="grow" />
        <CopyButton text={text} what={label} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must be reached by keys */}
      <pre class={`section-text ${form}`} tabIndex={0}>
        {form === "diff" ? <DiffLines lines={shown.split("\n")} /> : shown}
      </pre>
      {shown.length < text.length && (
        <button type="button" class="small" onClick={() => setWhole(true)}>
          {hidden > 0 ? `show ${counted(hidden, "more line")}` : "show all of it"}
        </button>
      )}
    </section>
  );
}

/** Lines of a diff: the sign in front says what the colour says. */
function DiffLines({ lines }: { lines: readonly string[] }) {
  return (
    <>
      {lines.map((line, i) => (
        <span key={i} class={`diff-line ${diffKind(line)}`}>
          {`${line}\n`}
        </span>
      ))}
    </>
  );
}

function diffKind(line: string): "added" | "removed" | "place" | "same" {
  if (/^(?:@@|\+\+\+ |--- )/.test(line)) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}

function startOf(whole: string): string {
  let end = -1;
  for (let n = 0; n < FIRST_LINES; n++) {
    end = whole.indexOf("\n", end + 1);
    if (end < 0) break;
  }
  return whole.slice(0, Math.min(end < 0 ? whole.length : end, FIRST_CHARS));
}

const lineCount = (whole: string): number => whole.split("\n").length;
