// Redirections: what is written counts as an edit, what is read as a read, here-documents are searched for substitutions.
import type { Redirect, Redirection } from "unbash";
import { addFinding } from "../evaluation.ts";
import { allow, ask, askFirm, deny } from "../finding.ts";
import { judgeName } from "./assign.ts";
import { expandValue, expandWord, printedBy } from "./expand.ts";
import { type Field, field, has, holeField, isKnown } from "./field.ts";
import { readField, writeField } from "./paths.ts";
import type { CommandOutput, Shell } from "./shell.ts";

/** Gives what stands on the standard input afterwards, if they say so. */
export function judgeRedirects(shell: Shell, redirects: readonly Redirection[]): CommandOutput | undefined {
  let stdin: CommandOutput | undefined;
  for (const redirect of redirects) stdin = judgeRedirect(shell, redirect) ?? stdin;
  return stdin;
}

function judgeRedirect(shell: Shell, redirect: Redirection): CommandOutput | undefined {
  switch (redirect.type) {
    case "HereDoc": {
      const { body, delimiter } = redirect;
      if (!redirect.closing) addFinding(shell.evaluation, "<<", askFirm("the here-document has no end", "unreadable"));
      const parts = delimiter?.quoted ? undefined : body.parts;
      if (!parts) return { kind: "text", text: body.text };
      const value = expandValue(shell, {
        type: "Word",
        text: body.text,
        value: body.text,
        pos: body.pos,
        end: body.end,
        parts: quote(parts),
      });
      judgeTold(shell, body.text, [value]);
      return isKnown(value) ? { kind: "text", text: value.text } : { kind: "unknown" };
    }
    case "HereString": {
      if (!redirect.target) return undefined;
      const value = expandValue(shell, redirect.target);
      judgeTold(shell, redirect.target.text, [value]);
      return isKnown(value) ? { kind: "text", text: value.text } : { kind: "unknown" };
    }
    case "Redirect":
      return judgeFile(shell, redirect);
  }
}

/** A variable with a key in it would be printed. */
export function judgeTold(shell: Shell, text: string, fields: Field[]): undefined {
  if (!/\$\{?\w*(?:KEY|TOKEN|SECRET|PASSW|CREDENTIAL)\w*/i.test(text)) return;
  if (fields.some((f) => has(f, "unknown")))
    addFinding(shell.evaluation, text, askFirm("it prints a variable that may hold a key", "secret"));
}

type Parts = NonNullable<Extract<Redirection, { type: "HereDoc" }>["body"]["parts"]>;

/** A here-document begins with no tilde. */
const quote = (parts: Parts): Parts => [{ type: "SingleQuoted", pos: 0, end: 0, value: "", text: "''" }, ...parts];

function judgeFile(shell: Shell, redirect: Redirect): CommandOutput | undefined {
  const text = shell.source.slice(redirect.pos, redirect.end);
  const variable = /^\{([A-Za-z_].*?)\}[<>&]/s.exec(text)?.[1];
  if (variable !== undefined) judgeName(shell, field(variable));
  if (!redirect.target) {
    addFinding(shell.evaluation, text, deny("the redirection has no target"));
    return undefined;
  }
  const [process, ...others] = redirect.target.parts ?? [];
  if (redirect.operator === "<" && process?.type === "ProcessSubstitution" && others.length === 0) {
    addFinding(shell.evaluation, text, allow());
    return printedBy(shell, process.script, process.text);
  }
  const [only, ...more] = expandWord(shell, redirect.target);
  const target: Field = only && more.length === 0 ? only : holeField();
  if (/^\/dev\/(?:tcp|udp)\//.test(target.text)) {
    addFinding(shell.evaluation, text, deny("it opens a network connection", "network"));
    return { kind: "network" };
  }
  const { operator } = redirect;
  if (operator === "<&" || operator === ">&") {
    if (/^(?:\d+-?|-)$/.test(target.text)) {
      addFinding(shell.evaluation, text, allow());
      return undefined;
    }
    if (operator === "<&") {
      readField(shell, target, text);
      return { kind: "unknown" };
    }
  }
  if (operator === "<") {
    readField(shell, target, text);
    return target.text.startsWith("/dev/fd/") ? undefined : { kind: "unknown" };
  }
  if (operator === "<>") readField(shell, target, text);
  writeField(shell, target, text);
  if (target.glob) addFinding(shell.evaluation, text, ask("which file it writes is only known at run time", "runtime"));
  return undefined;
}
