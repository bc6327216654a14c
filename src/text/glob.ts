// Owns glob patterns: `*`, `?`, `**`, `[…]`, `{a,b}` as a regular expression over a relative path.

/** A pattern without a slash matches the name at any depth. */
export function globToRegExp(pattern: string): RegExp {
  const anchored = pattern.replace(/^\.\//, "");
  const body = translate(anchored.includes("/") ? anchored.replace(/^\//, "") : `**/${anchored}`);
  return new RegExp(`^${body}$`);
}

/** An absolute pattern names its directory itself: that is opened and judged like a path. */
export function splitPattern({ pattern, path = "." }: { pattern: string; path?: string }): {
  path: string;
  pattern: string;
} {
  if (!pattern.startsWith("/")) return { path, pattern };
  const parts = pattern.split("/");
  const first = parts.findIndex((part, i) => /[*?[{\\]/.test(part) || i === parts.length - 1);
  return { path: parts.slice(0, first).join("/") || "/", pattern: `/${parts.slice(first).join("/")}` };
}

function translate(glob: string): string {
  let out = "";
  let depth = 0;
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i]!;
    if (c === "*") {
      const isDouble = glob[i + 1] === "*";
      if (!isDouble) {
        out += "[^/]*";
        continue;
      }
      while (glob[i + 1] === "*") i++;
      if (glob[i + 1] === "/") {
        out += "(?:[^/]*/)*"; // also no directory at all
        i++;
      } else out += ".*";
    } else if (c === "?") out += "[^/]";
    else if (c === "[" && glob.indexOf("]", i + 2) > 0) {
      const end = glob.indexOf("]", i + 2);
      const set = glob
        .slice(i + 1, end)
        .replace(/^[!^]/, "^")
        .replace(/[\\[\]&~|]/g, "\\$&");
      out += `[${set}]`;
      i = end;
    } else if (c === "{" && closes(glob, i)) {
      depth++;
      out += "(?:";
    } else if (c === "}" && depth > 0) {
      depth--;
      out += ")";
    } else if (c === "," && depth > 0) out += "|";
    else if (c === "\\" && i + 1 < glob.length) out += literally(glob[++i]!);
    else out += literally(c);
  }
  return out;
}

const closes = (glob: string, at: number): boolean => glob.indexOf("}", at) > 0;

const literally = (c: string): string => c.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
