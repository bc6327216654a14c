// The commands that reach other machines: asked in general, refused where data leaves or strangers get in.
import { only } from "../../ledger/only.ts";
import { ask, askExact, askFirm, askNetwork, deny, denyNetworkUnlessRule, type PolicyVerdict } from "../finding.ts";
import {
  aroundHoles,
  cut,
  cutOff,
  type Field,
  field,
  fieldOf,
  has,
  join,
  match,
  type Word,
  word,
} from "../shell/field.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { fromTable } from "./flags.ts";

export const NETWORK: CommandOutput = { kind: "network" };

const asks = (): ((call: CommandCall) => CommandOutput) => (call) => {
  call.say(reach(call));
  return NETWORK;
};
const refuses =
  (reason: string): ((call: CommandCall) => CommandOutput) =>
  (call) => {
    call.say(deny(reason, "network"));
    return NETWORK;
  };

/** A bare address instead of a name is what attacks use. */
function reach(call: CommandCall): PolicyVerdict {
  if (call.args.some((f) => isMetadata(f.text)))
    return deny("it asks the cloud for the keys of this machine", "network");
  const isBare = call.args.some((f) => isBareAddress(f.text));
  return (isBare ? denyNetworkUnlessRule : askNetwork)(`${call.name} reaches another machine`);
}

const HOST = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^@/]*@)?(\[[0-9a-f:.]+\]|[^/:?#]+)/i;
/** Where clouds tell a machine its keys: link-local addresses, and the few that are none (Alibaba, Oracle, AWS by IPv6). */
const METADATA =
  /^(?:169\.254\.|100\.100\.100\.200$|192\.0\.0\.192$|\[(?:fe[89ab]|fd00:ec2:|fd20:ce:|::(?:ffff:)?(?:0:)?a9fe:|64:ff9b:(?:1?:)?.*a9fe:)|(?:metadata|instance-data)(?:\.|$)|.*\bmetadata\.(?:google|azure|tencentyun))/;

/** However the address is written: a browser's reading makes one of `0xa9fea9fe`, `169.254.43518` and `[::ffff:169.254.169.254]`. */
function isMetadata(text: string): boolean {
  const host = HOST.exec(text.replace(/^--?[\w-]+=/, ""))?.[1] ?? "";
  if (!/[.\]]|^0x|^\d+$|^(?:metadata|instance-data)$/i.test(host) || text === "metadata") return false;
  return METADATA.test(URL.parse(`http://${host}/`)?.hostname ?? "");
}

export function isBareAddress(text: string): boolean {
  if (isMetadata(text)) return true;
  const host = HOST.exec(text)?.[1] ?? "";
  if (/^(?:127\.|0\.0\.0\.0$|\[::1\]|localhost$)/.test(host)) return false;
  return /^\d{1,3}(?:\.\d{1,3}){3}$|^\[[0-9a-f:.]+\]$|^0x[0-9a-f]+$|^\d{8,10}$|^169\.254\./i.test(host);
}

export const NETWORK_COMMANDS: Commands = {
  curl,
  wget,
  http: asks(),
  https: asks(),
  xh: asks(),
  aria2c: asks(),
  lynx: asks(),
  links: asks(),
  w3m: asks(),
  ssh: (call) => {
    if (only(call.args)?.text === "-V") return undefined;
    if (
      call.args.some((f) =>
        /^-[a-zA-Z]*[DLRW]|ProxyCommand|LocalCommand|PermitLocal|KnownHostsCommand|^-o$|^-F/i.test(f.text),
      )
    )
      call.say(deny("ssh would run a program here or open a tunnel", "network"));
    call.say(denyNetworkUnlessRule("it runs a command on another machine"));
    return NETWORK;
  },
  scp: refuses("it copies to or from another machine"),
  sftp: refuses("it copies to or from another machine"),
  ftp: refuses("it copies to or from another machine"),
  tftp: refuses("it copies to or from another machine"),
  rclone: refuses("it copies to or from another machine"),
  nc: netcat,
  ncat: netcat,
  netcat,
  socat: refuses("it opens a raw connection"),
  telnet: refuses("it opens a raw connection"),
  ngrok: refuses("it opens the machine to others"),
  cloudflared: refuses("it opens the machine to others"),
  openssl,
  nmap: refuses("it scans other machines"),
  masscan: refuses("it scans other machines"),
  tcpdump: refuses("it listens to the network"),
  tshark: refuses("it listens to the network"),
  sendmail: refuses("it sends mail"),
  mail: refuses("it sends mail"),
  mailx: refuses("it sends mail"),
  mutt: refuses("it sends mail"),
  dig: lookupName,
  nslookup: lookupName,
  host: lookupName,
  getent: lookupName,
  ping: lookupName,
  ping6: lookupName,
  traceroute: asks(),
  tracepath: asks(),
  mtr: asks(),
  whois: asks(),
  arp: asks(),
  open: asks(),
  "xdg-open": asks(),
  ifconfig: fromTable({
    flags: "-as",
    operands: "text",
    finish: (call, { operands }) =>
      operands.length > 1 ? call.say(deny("it changes the network of the machine", "network")) : undefined,
  }),
  ss: fromTable({ flags: "-tulnpaxs46eomirH --tcp --udp --listening --numeric --processes --all", operands: "text" }),
  netstat: fromTable({ flags: "-tulnpaxrse46", operands: "text" }),
  lsof: fromTable({ flags: "-nPitabl -i? -p: -u: -c: -t -s?", operands: "look" }),
};

const UPLOADS = /^(?:-T.*|--upload-file(?:=.*)?|--mail-.*)$/;
const BODIES =
  /^(?:-d|--data|--data-binary|--data-raw|--data-ascii|--data-urlencode|-F|--form|--json|--form-string)(?:=|$)|^-[dF]./;

/** `-sSLo x` is `-s -S -L -o x`: the first letter with a value takes the rest. */
function uncluster(args: Field[], takesValue: string): Field[] {
  return args.flatMap((f) => {
    const [, letters, last, rest] = match(f, new RegExp(`^-([^-${takesValue}=]+)([${takesValue}])(.*)$`, "ds")) ?? [];
    if (!letters || !last || !rest) return [f];
    const flags = [letters, last].map((name) => fieldOf(join([word("-"), name])));
    return [...flags, ...(rest.text === "" ? [] : [{ ...f, ...rest }])];
  });
}

/** Both take any unique beginning of a long name. */
function unabbreviate(args: Field[], names: string): Field[] {
  const known = names.split(" ");
  return args.map((f) => {
    const [, short] = /^(--[a-z][a-z-]*)(=.*)?$/s.exec(f.text) ?? [];
    if (short === undefined || known.includes(short)) return f;
    const whole = known.find((name) => short.length > 4 && name.startsWith(short));
    return whole === undefined ? f : { ...f, ...join([word(whole), cut(f, short.length)]) };
  });
}

const CURL_LONG =
  "--output --output-dir --upload-file --data-binary --data-raw --data-ascii --data-urlencode --config --cookie-jar --dump-header --trace-ascii --stderr --libcurl --unix-socket --form";
const WGET_LONG =
  "--output-document --output-file --append-output --directory-prefix --post-file --body-file --post-data --body-data --execute --config --use-askpass --save-cookies --rejected-log --warc-file --hsts-file";

function curl(call: CommandCall): CommandOutput {
  const args = unabbreviate(uncluster(call.args, "oDcdFTKHXAbeuxmrwyYzCEtP"), CURL_LONG);
  for (const [i, arg] of args.entries()) {
    const { text } = arg;
    const after = args[i + 1];
    const next = after ?? field("");
    if (UPLOADS.test(text)) call.say(deny("it sends a file away", "network"));
    const inline = cutOff(arg, BODIES);
    if (BODIES.test(text) && isSent(inline.text === "" ? next : inline) && !staysHere(args))
      call.say(deny("it sends a file away", "network"));
    if (/^(?:-H|--header|--variable|--url-query)$/.test(text) && /^\w*@/.test(next.text))
      call.say(deny("it sends a file away", "network"));
    const made = match(arg, /%output\{(?:>>)?([^}]*)\}/d)?.[1];
    if (made !== undefined) call.write(fieldOf(made));
    if (/^(?:-K|--config)/.test(text)) call.say(askFirm("its settings come from a file"));
    if (/^(?:-[a-zA-Z]*n|--netrc.*)$/.test(text)) call.say(deny("it sends a stored password", "secret"));
    if (/^(?:-x|--(?:pre)?proxy|--resolve|--connect-to|--doh-url|--socks.*)(?:=|$)/.test(text))
      call.say(askExact("another machine would stand between", "network"));
    if (/^--(?:unix-socket|abstract-unix-socket)/.test(text)) call.say(deny("it talks to a daemon of this machine"));
    if (
      /^(?:-o|--output|-D|--dump-header|-c|--cookie-jar|--trace|--trace-ascii|--stderr|--output-dir|--libcurl|--etag-save|--hsts|--alt-svc)$/.test(
        text,
      ) &&
      after
    )
      call.write(after);
    const [, short, long] =
      match(
        arg,
        /^(?:-o|-D|-c)(.+)$|^--(?:output|output-dir|dump-header|cookie-jar|trace|trace-ascii|stderr|libcurl|etag-save)=(.+)$/d,
      ) ?? [];
    const joined = short ?? long;
    if (joined) call.write(fieldOf(joined));
    if (/^file:\/\//i.test(text)) call.read(fieldOf(cutOff(arg, /^file:\/\/(?:localhost)?/i)));
    if (/^(?:dict|gopher|telnet|ldap|smtp|ftp|tftp|scp|sftp|smb|pop3|imap):/i.test(text))
      call.say(deny("it speaks a protocol that carries data away", "network"));
    if (isInAddress(arg)) call.say(deny("data of this machine would be part of the address", "network"));
  }
  if (/^(?:--version|-V|--help|-h)$/.test(only(args)?.text ?? "")) return { kind: "unknown" };
  if (args.some((f) => /^(?:-[a-zA-Z#0-9]*[OJ][a-zA-Z#0-9]*|--remote-(?:name|header-name)(?:-all)?)$/.test(f.text)))
    writesByAddress(call, args);
  if (args.some((f, i) => /^(?:-o|--output)$/.test(args[i - 1]?.text ?? "") && /#\d/.test(f.text)))
    call.say(askExact("the name of the file is only known at run time", "runtime"));
  call.say(reach(call));
  return NETWORK;
}

/** What it is called there it is called here; below a tree that is fetched, every name of the way. */
function writesByAddress(call: CommandCall, args: Field[]): undefined {
  for (const f of args) {
    const way = /^(?:[a-z]+:\/\/)?[\w.-]+\.[\w.-]+(?::\d+)?\/([^?#]*)/i.exec(f.text)?.[1];
    if (way === undefined || f.text.startsWith("-")) continue;
    const name = way.replace(/\/+$/, "");
    if (name !== "") for (const one of new Set([name, name.slice(name.lastIndexOf("/") + 1)])) call.write(field(one));
  }
}

/** A file by its name, or what nobody knows yet. */
const isSent = (body: Word): boolean => /^[^=]*@|=[@<]|^</.test(body.text) || has(body, "unknown");

/** Something that is not known stands in the query, or before the `//`. */
const isInAddress = (f: Field): boolean =>
  aroundHoles(f, "unknown").some(([before, after]) => /[?&][^=]*=.*$/.test(before) || /^.*\/\//.test(after));

/** Plain flags, bodies that are known, and every other word an address of this machine. */
function staysHere(args: CommandCall["args"]): boolean {
  const rest = args.filter((f, i) => {
    const takes = /^(?:-X|--request|-H|--header|-d|--data|--data-binary|-F|--form|--json)$/;
    return !/^-[sSifv]+$/.test(f.text) && !takes.test(f.text) && !takes.test(args[i - 1]?.text ?? "");
  });
  const isHere = /^(?:http:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/.*)?$/s;
  return rest.length > 0 && rest.every((f) => isHere.test(f.text)) && !args.some((f) => has(f, "unknown"));
}

/** `nc -z localhost 3000` only tries whether somebody listens; every other connection is raw. */
function netcat(call: CommandCall): CommandOutput {
  const [flags, host, port, ...more] = call.args.map((f) => f.text);
  const isProbe = /^-(?:z|zv|vz)$/.test(flags ?? "") && /^(?:localhost|127\.0\.0\.1)$/.test(host ?? "");
  if (isProbe && /^\d+$/.test(port ?? "") && more.length === 0) call.say(askNetwork("it tries a port of this machine"));
  else call.say(deny("it opens a raw connection", "network"));
  return NETWORK;
}

function wget(call: CommandCall): CommandOutput {
  const args = unabbreviate(uncluster(call.args, "OPoaeituUlQADRIXwB"), WGET_LONG);
  for (const [i, arg] of args.entries()) {
    const { text } = arg;
    if (/^--(?:post-file|body-file)/.test(text)) call.say(deny("it sends a file away", "network"));
    if (aroundHoles(arg, "unknown").some(([before]) => /^--(?:post-data|body-data).*$/.test(before)))
      call.say(deny("it sends data of this machine away", "network"));
    if (/^--(?:use-askpass|config|execute)|^-e/.test(text))
      call.say(deny(`wget ${text} can run programs`, "runs_code"));
    if (
      /^(?:-O|-P|-o|-a|--output-document|--directory-prefix|--output-file|--append-output|--save-cookies|--rejected-log|--warc-file|--hsts-file)$/.test(
        text,
      )
    ) {
      const next = args[i + 1];
      if (next && next.text !== "-") call.write(next);
    }
    const [, short, long] =
      match(
        arg,
        /^-[OPoa](.+)$|^--(?:output-document|directory-prefix|output-file|append-output|save-cookies|rejected-log|warc-file|hsts-file)=(.+)$/d,
      ) ?? [];
    const joined = short ?? long;
    if (joined && short?.text !== "-") call.write(fieldOf(joined));
  }
  if (/^(?:--version|-V|--help)$/.test(only(call.args)?.text ?? "")) return { kind: "unknown" };
  if (!args.some((f) => /^(?:-O|--output-document|--spider)/.test(f.text))) writesByAddress(call, args);
  call.say(reach(call));
  return NETWORK;
}

/** A name looked up can carry data out. */
function lookupName(call: CommandCall): CommandOutput {
  if (call.args.some((f) => has(f, "unknown", "names", "allNames")))
    call.say(deny("data of this machine would be part of the name it looks up", "network"));
  call.say(askNetwork("it looks up names"));
  return NETWORK;
}

function openssl(call: CommandCall): CommandOutput | undefined {
  const sub = call.args[0]?.text ?? "";
  if (sub === "version" && call.args.length === 1) return undefined;
  if (["s_client", "s_server", "s_time", "ocsp"].includes(sub)) {
    call.say(deny("it opens a raw connection", "network"));
    return NETWORK;
  }
  for (const [i, { text }] of call.args.entries()) {
    const next = call.args[i + 1];
    if (text === "-in" && next) call.read(next);
    if (text === "-out" && next) call.write(next);
    if (text === "-engine" || text === "-provider-path") call.say(deny("openssl would load code", "runs_code"));
  }
  call.say(ask("it works with keys and certificates"));
  return sub === "enc" || sub === "base64" ? { kind: "decoded" } : undefined;
}
