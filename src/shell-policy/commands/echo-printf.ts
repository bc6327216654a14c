// Echo and printf: what they print, as far as every shell agrees.
import { judgeName } from "../shell/assign.ts";
import { holeField, isKnown } from "../shell/field.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall } from "./call.ts";

export function echo(call: CommandCall): CommandOutput | undefined {
  let { args } = call;
  let isEscaped = false;
  for (let [first] = args; first && /^-[neE]+$/.test(first.text); [first] = args) {
    isEscaped ||= first.text.includes("e");
    args = args.slice(1);
  }
  if (!args.every((f) => isKnown(f) && !f.glob)) return undefined;
  const text = args.map((f) => f.text).join(" ");
  // Without `-e` some shells read escapes, others print them.
  return asText(isEscaped ? decodeEscapes(text) : text.includes("\\") ? undefined : text);
}

const asText = (text: string | undefined): CommandOutput | undefined =>
  text === undefined ? undefined : { kind: "text", text };

export function printf(call: CommandCall): CommandOutput | undefined {
  let { args } = call;
  if (args[0]?.text === "-v") {
    const [, target] = args;
    if (target) {
      judgeName(call.shell, target);
      call.shell.scope.vars.set(target.text, [holeField()]);
    }
    args = args.slice(2);
  }
  if (args[0]?.text === "--") args = args.slice(1);
  const [format, ...values] = args;
  if (!format || !isKnown(format) || !values.every(isKnown) || /%[^sdbi%]/.test(format.text)) return undefined;
  const filled = decodeEscapes(format.text);
  const decoded = values.map((f) => decodeEscapes(f.text));
  if (filled === undefined || decoded.includes(undefined)) return undefined;
  let out = "";
  let next = 0;
  do {
    out += filled.replace(/%([sdbi%])/g, (_, kind: string) => {
      if (kind === "%") return "%";
      const [value, bare] = [values[next]?.text ?? "", decoded[next] ?? ""];
      next++;
      return kind === "b" ? bare : value;
    });
  } while (next < values.length && /%[sdbi]/.test(filled) && out.length < 10_000);
  return { kind: "text", text: out };
}

/** What shells read differently, and what ends the output, is given up. */
const UNSURE = /\\(?:c|U|u\{|x\{|0[0-7]{3}|[4-7][0-7]{2})/;

function decodeEscapes(text: string): string | undefined {
  if (UNSURE.test(text.replaceAll("\\\\", ""))) return undefined;
  const NAMED: Record<string, string> = {
    n: "\n",
    t: "\t",
    "\\": "\\",
    a: " ",
    r: " ",
    e: " ",
    f: " ",
    v: " ",
    b: " ",
  };
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([ntarefvb\\]))/g,
    (_, hex?: string, uni?: string, oct?: string, name = "") => {
      const code = hex
        ? Number.parseInt(hex, 16)
        : uni
          ? Number.parseInt(uni, 16)
          : oct
            ? Number.parseInt(oct, 8)
            : undefined;
      if (code === undefined) return NAMED[name] ?? "";
      return code < 32 && code !== 10 && code !== 9 ? " " : String.fromCodePoint(code);
    },
  );
}
