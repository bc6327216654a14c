// One event in full, as sections of text: what was said, asked, printed, changed. Bounded, and never anything but text.
import type { StoredEvent } from "../../ledger/store.ts";
import { type Content, textOf } from "../../models/model.ts";
import { counted } from "../../text/counted.ts";
import type { ShownFact } from "../presentation/presenter.ts";
import { oneLine, printable } from "../presentation/printable.ts";
import { callTitle } from "../presentation/titles.ts";
import type { EventDetail, TextSection } from "./context-api.ts";
import { eventRow } from "./event-rows.ts";

/** Of one section; the whole is in the ledger. */
const MOST_CHARS = 100_000;
/** Of all sections of one event. */
const ALL_CHARS = 250_000;

/** `event`: with its long texts in place. */
export function eventDetail(event: StoredEvent): Omit<EventDetail, "round"> {
  const shown = sectionsShown(event).filter(({ text }) => text !== "");
  const recorded = section("recorded as", "json", JSON.stringify(event.data, withoutBytes, 2) ?? "");
  return { row: eventRow(event), sections: bounded([...shown, recorded]) };
}

/** Of a newer version, or damaged: what is recorded is shown all the same. */
function sectionsShown(event: StoredEvent): TextSection[] {
  try {
    return sectionsOf(event as ShownFact);
  } catch {
    return [];
  }
}

/** The first ones whole as long as there is room, then what is left of it; those without any are only counted. */
function bounded(sections: readonly TextSection[]): TextSection[] {
  let room = ALL_CHARS;
  const found: TextSection[] = [];
  for (const one of sections) {
    if (room <= 0) break;
    found.push(
      one.text.length <= room
        ? one
        : { ...one, text: cutAt(one.text, room), bytes: one.bytes ?? Buffer.byteLength(one.text) },
    );
    room -= one.text.length + one.label.length;
  }
  const more = sections.length - found.length;
  return more === 0 ? found : [...found, section("more", "text", `${counted(more, "section")} more, in the ledger`)];
}

/** Never in the middle of a character. */
const cutAt = (text: string, length: number): string => text.slice(0, length).toWellFormed();

/** Pictures and documents are named, not sent: they are base64 of any size. */
function withoutBytes(key: string, value: unknown): unknown {
  return key === "data" && typeof value === "string" && value.length > 200 ? `(${value.length} characters)` : value;
}

export function section(label: string, form: TextSection["form"], text: string): TextSection {
  const named = { label: oneLine(label, 200), form };
  const safe = printable(text.length > 4 * MOST_CHARS ? text.slice(0, 4 * MOST_CHARS) : text);
  if (safe.length <= MOST_CHARS && text.length <= 4 * MOST_CHARS) return { ...named, text: safe };
  return { ...named, text: cutAt(safe, MOST_CHARS), bytes: Buffer.byteLength(text) };
}

const contentSections = (label: string, content: readonly Content[]): TextSection[] => [
  section(label, "text", textOf(content)),
  ...content.flatMap((part) =>
    part.type === "text"
      ? []
      : [section(part.type, "text", `${part.mediaType}, ${part.data.length} characters of base64`)],
  ),
];

const isDiff = (text: string): boolean => /^--- .*\n\+\+\+ .*\n@@ /.test(text);

function sectionsOf(event: ShownFact): TextSection[] {
  const { type, data } = event;
  switch (type) {
    case "input.received":
      return contentSections("said", data.content);
    case "reply.received":
      return data.parts.flatMap((part): TextSection[] => {
        if (part.type === "text") return [section("said", "markdown", part.text)];
        if (part.type === "reasoning") return [section("thought", "text", part.text)];
        const title = `${part.name} ${callTitle(part.name, part.input)}`.trim();
        return [section(`calls ${title}`, "json", JSON.stringify(part.input, null, 2) ?? "")];
      });
    case "tool.started":
      return data.name === "bash" && typeof Object(data.input).command === "string"
        ? [section("command", "text", String(Object(data.input).command)), section("in", "text", data.cwd)]
        : [section("input", "json", JSON.stringify(data.input, null, 2) ?? ""), section("in", "text", data.cwd)];
    case "tool.finished":
      return [
        ...(data.denied === undefined ? [] : [section("refused", "text", data.denied)]),
        ...(data.display === undefined ? [] : [section("shown", isDiff(data.display) ? "diff" : "text", data.display)]),
        ...contentSections("result", data.content),
      ];
    case "note.added":
      return [section(`note of ${data.origin}`, "text", data.text)];
    case "message.sent":
      return [section(`to ${data.to}`, "markdown", data.content)];
    case "plan.submitted":
      return [section("plan", "markdown", data.plan)];
    case "turn.ended":
      return [
        ...(data.error === undefined ? [] : [section("error", "text", data.error)]),
        section("answer", "markdown", data.text),
      ];
    case "job.ended":
      return [section("printed last", "text", data.tail)];
    default:
      return [];
  }
}
