// The reading of English requests that carry text for a file: write and edit.
import { type Clause, QUOTED } from "./clauses.ts";
import { isQuoted, looksLikePath } from "./files.ts";
import type { Before, Intent } from "./request.ts";

export function readEnglishText(clause: Clause, before: Before): Intent[] | undefined {
  return edit(clause, before) ?? write(clause) ?? writeTo(clause);
}

const asFile = (clause: Clause, word: string | undefined): string | undefined => {
  if (!word) return undefined;
  const plain = clause.plain(word);
  return isQuoted(word) || looksLikePath(plain) ? plain : undefined;
};

const IN_FILE =
  /^(?:in|edit|open|inside)\s+(?:the\s+)?(?:file\s+)?(\S+?)(?:\s*[:,]\s*|\s+)(?:and\s+|to\s+|by\s+)?(?=(?:replac|chang|substitut|swap))/i;
const REPLACE = /^(?:replac(?:e|ing)|chang(?:e|ing)|substitut(?:e|ing)|swap)\s+(.+?)\s+(?:with|by|to|into)\s+(.+)$/is;
const ALL = /^(?:all|every|each)\s+(?:of\s+)?(?:the\s+)?|\s+everywhere$/i;

function edit(clause: Clause, before: Before): Intent[] | undefined {
  const first = IN_FILE.exec(clause.text);
  const found = REPLACE.exec(clause.text.slice(first?.[0].length ?? 0));
  if (!found) return undefined;
  const last = /\s+(?:in|inside|within|of)\s+(?:the\s+)?(?:file\s+)?(\S+?)(\s+everywhere)?$/i.exec(found[2]!);
  const path = asFile(clause, first?.[1]) ?? asFile(clause, last?.[1]) ?? before.file;
  if (!path) return undefined;
  const to = last && asFile(clause, last[1]) ? found[2]!.slice(0, last.index) + (last[2] ?? "") : found[2]!;
  const what = found[1]!.replace(ALL, "").replace(/^(?:occurrences?|instances?)\s+of\s+/i, "");
  const own = (s: string) =>
    clause.plain(
      s
        .replace(/^(?:the\s+)?(?:word|text|string|line)\s+/i, "")
        .replace(ALL, "")
        .trim(),
    );
  return [{ kind: "edit", path, oldText: own(what), newText: own(to), all: ALL.test(found[1]!) || ALL.test(to) }];
}

const NEW_FILE =
  /^(?:write|create|make|save|add)\s+(?:to\s+)?(?:(?:me|an?|the|new|text|empty)\s+)*(?:file\s+)?(?:(?:called|named|at)\s+)?(\S+?)(?::?\s+|$)/i;
const CONTENT =
  /^,?\s*(?:with|containing|that says|that contains|saying|which says|which contains|and put|having)\s+(?:it\s+)?(?:(?:the|as)\s+)?(?:(?:following\s+)?(?:text|contents?|words?|line)\b\s*)?(?:of\s+)?:?\s*/i;

function write(clause: Clause): Intent[] | undefined {
  const start = NEW_FILE.exec(clause.text);
  const path = asFile(clause, start?.[1]);
  if (!start || !path) return undefined;
  const rest = clause.text.slice(start[0].length);
  const empty = /\bempty\b/i.test(start[0]) && rest.trim() === "";
  const lead = CONTENT.exec(rest);
  if (!empty && !lead && !start[0].includes(": ") && !start[0].includes(":\n")) return undefined;
  return fileWith(clause, path, rest.slice(lead?.[0].length ?? 0));
}

const INTO =
  /^(?:write|save|put|add)\s+(?:the\s+(?:text|words?|line)\s+)?(.+?)\s+(?:to|into|in|as)\s+(?:(?:an?|the|new)\s+)*(?:file\s+)?(?:(?:called|named)\s+)?(\S+)$/is;

function writeTo(clause: Clause): Intent[] | undefined {
  const found = INTO.exec(clause.text);
  const path = asFile(clause, found?.[2]);
  return found && path ? fileWith(clause, path, found[1]!) : undefined;
}

/** A file of text ends with a newline, as editors leave it. */
function fileWith(clause: Clause, path: string, text: string): Intent[] {
  const quoted = new RegExp(`^\\s*(${QUOTED})\\s*$`).exec(text)?.[1];
  const content = quoted ? clause.plain(quoted) : clause.raw(text.trim());
  return [{ kind: "write", path, content: content === "" || content.endsWith("\n") ? content : `${content}\n` }];
}
