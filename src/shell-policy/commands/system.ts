// The commands about the machine: what they tell, and what they would change.
import { only } from "../../ledger/only.ts";
import { ask, askFirm, deny } from "../finding.ts";
import type { CommandCall, Commands } from "./call.ts";
import { fromTable, type Parsed, readFlags } from "./flags.ts";
import { lookupNames } from "./same-judge.ts";

const denies =
  (reason: string) =>
  (call: CommandCall): undefined => {
    call.say(deny(reason));
    return undefined;
  };
const asks =
  (reason: string) =>
  (call: CommandCall): undefined => {
    call.say(ask(reason));
    return undefined;
  };
const tells = (flags: string) => fromTable({ flags, operands: "none" });

const named: Commands = {
  ...lookupNames(
    "mkfs mkfs.ext4 mkfs.ext3 mkfs.xfs mkfs.btrfs mkfs.vfat mke2fs mkswap swapon swapoff fdisk sfdisk gdisk sgdisk cfdisk parted wipefs blkdiscard hdparm losetup cryptsetup lvremove vgremove pvremove lvcreate mdadm zpool zfs tune2fs e2fsck fsck resize2fs badblocks diskutil",
    denies("it changes disks"),
  ),
  ...lookupNames("mount umount fusermount pivot_root", (call) => {
    const isListing = call.name === "mount" && call.args.every((f) => f.text === "-l");
    if (!isListing) call.say(deny("it changes what is mounted"));
    return undefined;
  }),
  ...lookupNames("shutdown reboot halt poweroff init telinit rtcwake", denies("it stops the machine")),
  ...lookupNames(
    "useradd userdel usermod groupadd groupdel passwd chpasswd adduser deluser chsh chfn visudo vipw gpasswd",
    denies("it changes users of the machine"),
  ),
  ...lookupNames(
    "iptables ip6tables nft ufw firewall-cmd ipset tc route ifup ifdown nmcli iwconfig wpa_cli brctl",
    denies("it changes the network of the machine"),
  ),
  ...lookupNames("insmod rmmod modprobe kexec depmod dkms", denies("it changes the kernel")),
  ...lookupNames("crontab at batch atrm anacron", (call) => {
    call.say(
      call.args.some((f) => f.text === "-l")
        ? ask("it lists what is planned")
        : deny("it plans commands for later", "runs_code"),
    );
    return undefined;
  }),
  ...lookupNames("systemctl service launchctl rc-service initctl supervisorctl", (call) => {
    const isRead = call.args.some((f) =>
      /^(?:status|is-active|is-enabled|list-units|show|list|--version)$/.test(f.text),
    );
    call.say(isRead ? ask("it asks the services of the machine") : deny("it changes services of the machine"));
    return undefined;
  }),
  ...lookupNames(
    "hostnamectl timedatectl localectl loginctl update-alternatives ldconfig alternatives update-rc.d chkconfig hwclock ntpdate setenforce auditctl semanage restorecon ausearch dmsetup tuned-adm",
    denies("it changes settings of the machine"),
  ),
  ...lookupNames(
    "gpg gpg2 gpg-agent ssh-add ssh-agent ssh-copy-id ssh-keyscan pass security keyctl secret-tool kinit age sops op bw lpass keychain",
    (call) => {
      const isVersion = only(call.args)?.text === "--version";
      if (!isVersion) call.say(deny("it works with keys and secrets", "secret"));
      return undefined;
    },
  ),
  ...lookupNames("pbcopy pbpaste xclip xsel wl-copy wl-paste clip", asks("it uses the clipboard")),
  ...lookupNames("screen tmux zellij dtach abduco", askSession),
  ...lookupNames("defaults dconf gsettings xattr plutil scutil", asks("it changes settings of the desktop")),
  ...lookupNames("wall write mesg talk notify-send say", asks("it speaks to people")),
};

function askSession(call: CommandCall): undefined {
  call.say(askFirm("it starts or drives another session", "runs_code"));
  const words = call.args.filter((f) => !f.text.startsWith("-"));
  for (const f of words) if (f.text.includes(" ")) call.runText(f);
  if (call.name === "screen" && words.length > 0) call.run(words);
  return undefined;
}

export const SYSTEM: Commands = {
  ...named,
  date: fromTable({
    flags:
      "-uRnj -d: -I? -r: -f~ -v: -s! --date: --iso-8601? --rfc-3339: --rfc-email --utc --universal --reference: --set! --file~ --debug --resolution",
    operands: "text",
    prints: { kind: "plain" },
    finish: (call, { operands }) => {
      if (operands.some((f) => !f.text.startsWith("+"))) call.say(deny("it sets the clock"));
      return undefined;
    },
  }),
  cal: fromTable({ flags: "-13smyj -A: -B:", operands: "text" }),
  whoami: tells("--version"),
  id: fromTable({ flags: "-agGnruz --user --group --groups --name --real", operands: "text" }),
  groups: fromTable({ flags: "", operands: "text" }),
  logname: tells(""),
  who: tells("-abdHlmpqrstTuw"),
  w: tells("-hsfo"),
  users: tells(""),
  last: tells("-n: -a"),
  tty: tells("-s"),
  uname: tells("-asnrvmpio --all --kernel-name --nodename --kernel-release --machine --operating-system"),
  arch: tells(""),
  nproc: tells("--all --ignore:"),
  hostname: fromTable({
    flags: "-fisdAIy --fqdn --short --ip-address --all-ip-addresses -F!",
    operands: "none",
    finish: (call, { operands }) => (operands.length > 0 ? call.say(deny("it renames the machine")) : undefined),
  }),
  uptime: tells("-ps --pretty --since"),
  free: tells("-bkmghtlwv -s: -c: --human --mega --giga --total --wide"),
  vmstat: fromTable({ flags: "-adfimstw -S:", operands: "text" }),
  iostat: fromTable({ flags: "-cdhkmNtxyz", operands: "text" }),
  lscpu: tells("-abcepsxy --json"),
  lsblk: tells("-abdfilmnoprStJ -o: --json"),
  lsusb: tells("-tv"),
  lspci: tells("-vnkt"),
  lsmod: tells(""),
  sw_vers: tells("-productVersion"),
  getconf: fromTable({ flags: "-a", operands: "text" }),
  locale: fromTable({ flags: "-amck", operands: "text" }),
  ps: (call) => {
    // Letters without a dash: `e` prints the environment. Names after a dash are values.
    const isValue = (at: number) => /^(?:-[a-zA-Z]*[CGUgoptu]|--\w[\w-]*)$/.test(call.args[at - 1]?.text ?? "");
    if (
      call.args.some(
        (f, i) => f.text === "-eww" || f.text === "-E" || (/^[a-zA-Z]*e[a-zA-Z]*$/.test(f.text) && !isValue(i)),
      )
    )
      call.say(askFirm("it prints the environment of processes", "secret"));
    return undefined;
  },
  pgrep: fromTable({
    flags:
      "-flanvxciocLwrA -u: -U: -P: -g: -s: -t: -d: -G: --full --list-name --list-full --exact --newest --oldest --count --parent:",
    operands: "text",
  }),
  pidof: fromTable({ flags: "-sqx -o:", operands: "text" }),
  pstree: fromTable({ flags: "-acghlnpsStTuZA -H: -N:", operands: "text" }),
  top: fromTable({ flags: "-bHicSes -d: -n: -o: -p: -u: -U: -w? -l: -s:", operands: "none" }),
  htop: tells(""),
  "ssh-keygen": keygen,
  kill,
  pkill: processes,
  killall: processes,
  skill: processes,
  fuser,
  sleep: fromTable({ flags: "", operands: "text" }),
  which: fromTable({ flags: "-a --all", operands: "text" }),
  whereis: fromTable({ flags: "-bmsu", operands: "text" }),
  whatis: fromTable({ flags: "", operands: "text" }),
  apropos: fromTable({ flags: "", operands: "text" }),
  man: fromTable({
    flags: "-kfaw -P! -H! --pager! --html! -C! -M~ -l~ -X! -T~ -Z~",
    operands: "text",
    finish: readsPages,
  }),
  info: fromTable({ flags: "-o:w --output:w", operands: "text", finish: readsPages }),
  tldr: fromTable({ flags: "", operands: "text" }),
  clear: tells(""),
  reset: tells(""),
  tput: fromTable({ flags: "-T: -S", operands: "text" }),
  stty: asks("it changes the terminal"),
  yes: fromTable({ flags: "", operands: "text", prints: { kind: "endless" } }),
  sync: tells("-df"),
  dmesg: fromTable({
    flags: "-HTkLxe -l: -C! -c! --clear! --human",
    operands: "none",
    asks: "it reads messages of the kernel",
  }),
  journalctl: fromTable({ flags: "", operands: "text", asks: "it reads the log of the machine" }),
  sysctl: (call) => {
    call.say(
      call.args.some((f) => /=|^-[wp]/.test(f.text))
        ? deny("it changes the kernel", "device")
        : ask("it reads settings of the kernel", "device"),
    );
    return undefined;
  },
  ip: (call) => {
    const isRead = call.args.every((f) =>
      /^(?:-(?:4|6|br|brief|c|color|j|json|o|p|s|d|h)|a|addr|address|link|route|r|show|list|neigh|dev|lo|(?:eth|en|wl|br|docker)[\w-]*)$/.test(
        f.text,
      ),
    );
    if (!isRead) call.say(deny("it changes the network of the machine", "network"));
    return undefined;
  },
  inotifywait: fromTable({ flags: "-mrq -e: -t: --format: --timefmt: --exclude:", operands: "look" }),
  fswatch: asks("it watches files"),
  cloc: fromTable({ flags: "--by-file --json --quiet --exclude-dir: --include-lang: --vcs~" }),
  tokei: fromTable({ flags: "-fs -e: -t: -o: --files --sort: --exclude: --type: --output:" }),
  scc: fromTable({ flags: "" }),
  logger: asks("it writes to the log of the machine"),
  mknod: denies("it creates devices"),
  mkfifo: fromTable({ flags: "-m: --mode:", operands: "write", asks: "it creates a pipe" }),
  hexedit: asks("it opens an editor"),
};

/** A name with a slash is a file. */
function readsPages(call: CommandCall, { operands }: Parsed): undefined {
  for (const f of operands) if (f.text.includes("/")) call.read(f);
}

/** `-l` prints the fingerprint of a public key; everything else makes or changes keys. */
function keygen(call: CommandCall): undefined {
  const flags = call.args.filter((f) => f.text.startsWith("-")).map((f) => f.text);
  const files = call.args.filter((f) => !f.text.startsWith("-") && !/^(?:md5|sha256)$/i.test(f.text));
  const isFingerprint = flags.some((f) => f.includes("l")) && flags.every((f) => /^-(?:[lfv]+|E)$/.test(f));
  if (!isFingerprint || !files.every((f) => f.text.endsWith(".pub")))
    call.say(deny("it works with keys and secrets", "secret"));
  for (const f of files) call.read(f);
}

function kill(call: CommandCall): undefined {
  const targets = call.args.filter((f, i) => !(i === 0 && /^-/.test(f.text)) && f.text !== "--");
  if (/^-[lL]/.test(only(call.args)?.text ?? "")) return undefined;
  if (targets.some((f) => f.text === "-1" || f.text === "1" || f.text === "0"))
    call.say(deny("it stops every process of the user, or the first one"));
  else call.say(ask("it stops processes"));
  return undefined;
}

function fuser(call: CommandCall): undefined {
  const { operands, has } = readFlags(call, { flags: "-avumik -n:" });
  const arePorts = operands.every((f) => /^\d+\/(?:tcp|udp)$/.test(f.text));
  for (const f of operands) call.look(f);
  if (has("-k"))
    call.say(arePorts ? ask("it stops what listens there") : deny("it stops every process that uses the files"));
}

function processes(call: CommandCall): undefined {
  const isWide = call.args.some(
    (f) =>
      /^-(?:u|U|-user|-euid|G|g|s|t|v|-inverse)/.test(f.text) ||
      f.text === "." ||
      f.text === ".*" ||
      /^(?:systemd|init|sshd|dockerd|Xorg|bash|zsh|sh|node|holdfast|claude)$/.test(f.text),
  );
  call.say(isWide ? deny("it stops many processes") : ask("it stops processes by name"));
  return undefined;
}
