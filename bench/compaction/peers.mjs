// The agents of these benchmarks: their configuration against the scripted model, and how each is started.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { BYTES_PER_TOKEN } from "./wire.mjs";

/** Installs and runs live here, outside any repository. */
export const BENCH_DIR = process.env.BENCH_DIR || path.join(os.tmpdir(), "agent-bench");
const INST = path.join(BENCH_DIR, "inst");
const NODE22 = path.join(INST, "node22/node_modules/node/bin");
/** Long, as real ones are: a short key hides what redaction does to a transcript. */
const KEY = "sk-CANARY-APIKEY-123456";

const bin = (name) => path.join(INST, name, "node_modules/.bin", name);

/** The native binary; its npm launcher would be measured too. */
function codexBinary() {
  const root = path.join(INST, "codex/node_modules/@openai");
  for (const pkg of fs.existsSync(root) ? fs.readdirSync(root) : []) {
    const vendor = path.join(root, pkg, "vendor");
    for (const arch of fs.existsSync(vendor) ? fs.readdirSync(vendor) : []) {
      const file = path.join(vendor, arch, "bin/codex");
      if (fs.existsSync(file)) return file;
    }
  }
  return path.join(root, "codex-native");
}

const codexConfig = (base, work, window, compactAt) => `model = "mock"
model_provider = "mock"
model_context_window = ${window}
${compactAt ? `model_auto_compact_token_limit = ${compactAt}` : ""}
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[features]
plugins = false
[analytics]
enabled = false
[model_providers.mock]
name = "mock"
base_url = "${base}/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
[projects."${work}"]
trust_level = "trusted"
`;

const geminiSettings = (model) => ({
  security: { auth: { selectedType: "gemini-api-key" } },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  ui: { hideTips: true },
  model: { disableLoopDetection: true, maxSessionTurns: -1, ...model },
});

// Each entry: files to write, env, print(prompt, resume) → argv of a one-shot turn, interactive → argv of its UI,
// window = the bytes above which the server refuses a request of this agent.
// compactAt (tokens): each agent is told, in its own terms, a window that makes it compact at that size.
const PEERS = {
  pi({ home, base, compactAt }) {
    const window = compactAt ? compactAt + 16384 : 1_000_000; // it keeps 16,384 tokens free
    const start = [bin("pi"), "--offline", "--provider", "mock", "--model", "mock"];
    const models = {
      providers: {
        mock: {
          baseUrl: `${base}/v1`,
          api: "openai-completions",
          apiKey: KEY,
          models: [{ id: "mock", contextWindow: window, maxTokens: 8000 }],
        },
      },
    };
    return {
      files: { [`${home}/.pi/agent/models.json`]: models },
      env: { PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_SKIP_VERSION_CHECK: "1" },
      print: (prompt, resume) => [...start, ...(resume ? ["-c"] : []), "-p", prompt],
      interactive: start,
      window,
    };
  },
  codex({ home, work, base, compactAt }) {
    const window = compactAt ? Math.floor(compactAt / 0.75) : 1_000_000;
    const flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    return {
      files: { [`${home}/.codex/config.toml`]: codexConfig(base, work, window, compactAt) },
      env: { MOCK_KEY: KEY },
      print: (prompt, resume) => [codexBinary(), "exec", ...(resume ? ["resume", "--last"] : []), ...flags, prompt],
      interactive: [codexBinary()],
      window,
    };
  },
  gemini({ home, base, compactAt }) {
    const start = [bin("gemini"), "--skip-trust", "-y", "-m", "gemini-2.5-pro"];
    const threshold = compactAt ? { compressionThreshold: compactAt / 1048576 } : {};
    return {
      files: { [`${home}/.gemini/settings.json`]: geminiSettings(threshold) },
      env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: base },
      print: (prompt, resume) => [...start, ...(resume ? ["-r", "latest"] : []), "-p", prompt],
      interactive: start,
      window: compactAt ? compactAt * 2 : 1_000_000, // by default it compresses at half of the window
    };
  },
  holdfast({ base, limitBytes, compactAt }) {
    const root = path.resolve(process.env.HOLDFAST || ".");
    const start = [path.join(root, "node_modules/.bin/node"), path.join(root, "bin/holdfast.js")];
    const told =
      compactAt && spawnSync(start[0], [start[1], "--help"], { encoding: "utf8" }).stdout?.includes("--context-window");
    const window = told ? Math.floor(compactAt / 0.75) : limitBytes ? limitBytes / BYTES_PER_TOKEN : 1_000_000; // without the flag it learns the window from the refusal
    const model = [
      "--model",
      "openai-compatible/mock",
      ...(told ? ["--context-window", String(window)] : []),
      ...(process.env.HOLDFAST_ARGS?.split(" ") ?? []),
    ];
    return {
      files: {},
      env: { OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: KEY },
      print: (prompt, resume) => [
        ...start,
        ...(resume ? ["-c"] : []),
        "-p",
        prompt,
        ...model,
        "--permission-mode",
        "bypass",
        "--trust",
        "--max-rounds",
        "100000",
      ],
      interactive: [...start, ...model],
      window,
    };
  },
};

export const peerNames = Object.keys(PEERS);

/** A fresh home and work folder for one agent; null when it is not installed. */
export function preparePeer(name, { dir, base, limitBytes }) {
  const home = path.join(dir, "home");
  const work = path.join(dir, "work");
  const compactAt = limitBytes && Math.floor((0.97 * limitBytes) / BYTES_PER_TOKEN);
  const peer = PEERS[name]({ home, work, base, limitBytes, compactAt });
  if (!peer.interactive.filter((a) => path.isAbsolute(a)).every((f) => fs.existsSync(f))) return null;
  fs.rmSync(dir, { recursive: true, force: true });
  for (const d of [path.join(home, "tmp"), work]) fs.mkdirSync(d, { recursive: true });
  spawnSync("git", ["init", "-q", work]);
  for (const [file, content] of Object.entries(peer.files)) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
  const env = {
    PATH: `${NODE22}:${process.env.PATH}`,
    HOME: home,
    TMPDIR: path.join(home, "tmp"),
    XDG_STATE_HOME: path.join(home, "state"),
    USER: "bench",
    SHELL: "/bin/bash",
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
    ...peer.env,
  };
  return {
    name,
    home,
    work,
    env,
    print: peer.print,
    interactive: peer.interactive,
    windowBytes: peer.window * BYTES_PER_TOKEN,
  };
}
