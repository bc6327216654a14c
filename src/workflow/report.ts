// The report of a run: what each phase took, and what was saved by not losing it. Only measured numbers.
import type { WorkflowRun } from "./status.ts";

export interface ReportRow {
  phase: string;
  agent: string;
  activeMs: number;
  /** Shared data that the phase gave. */
  bytes: number;
  /** Highest memory of the process while it ran. */
  peakRss: number;
  requests: number;
}

export interface Report {
  rows: ReportRow[];
  /** Times, data and requests added up; memory is the highest, for the phases share one process. */
  total: Omit<ReportRow, "phase" | "agent">;
  /** As a Markdown table. */
  markdown: string;
}

/** What it took to be back at work after a kill. */
export interface Recovery {
  /** From the kill to the first model request that had not been answered before. */
  recoveryMs: number;
  peakRss: number;
  /** Model requests whose answer was known, made again. */
  duplicated: number;
}

export function reportOf(run: WorkflowRun): Report {
  const rows = run.phases
    .filter((one) => one.runs > 0 && one.state !== "skipped")
    .map(
      ({ title, agent, activeMs, bytes, peakRss, requests }): ReportRow => ({
        phase: title,
        agent,
        activeMs,
        bytes,
        peakRss,
        requests,
      }),
    );
  const sum = (of: (row: ReportRow) => number): number => rows.reduce((all, row) => all + of(row), 0);
  const total = {
    activeMs: sum((row) => row.activeMs),
    bytes: sum((row) => row.bytes),
    peakRss: Math.max(0, ...rows.map((row) => row.peakRss)),
    requests: sum((row) => row.requests),
  };
  const cells = ({ activeMs, bytes, peakRss, requests }: Report["total"]): string[] => [
    timeText(activeMs),
    bytesText(bytes),
    peakRss > 0 ? bytesText(peakRss) : "–",
    String(requests),
  ];
  const markdown = table(
    ["Phase", "Agent", "Time", "Shared data", "Memory (peak)", "Model requests"],
    [
      ...rows.map((row, i) => [`${i + 1}. ${row.phase}`, row.agent, ...cells(row)]),
      ["**Total**", "–", ...cells(total)],
    ],
  );
  return { rows, total, markdown };
}

/** The second table of the report: the same kill, with and without what was kept. */
export function comparisonTable(kept: Recovery, lost: Recovery): string {
  const row = (name: string, a: number, b: number, text: (n: number) => string): string[] => [
    name,
    text(a),
    text(b),
    changeText(a, b),
  ];
  return table(
    ["After the kill", "With persistence", "Without", "Difference"],
    [
      row("Recovery time", kept.recoveryMs, lost.recoveryMs, timeText),
      row("Memory (peak)", kept.peakRss, lost.peakRss, bytesText),
      row("Duplicated model requests", kept.duplicated, lost.duplicated, String),
    ],
  );
}

function changeText(a: number, b: number): string {
  if (a === b) return "same";
  if (b === 0) return `${a} more`;
  const percent = Math.round((100 * (a - b)) / b);
  return percent === 0 ? "same" : `${percent > 0 ? "+" : "−"}${Math.abs(percent)} %`;
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string =>
    `| ${cells.map((cell) => cell.replace(/\s+/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = `| ${head.map((_, i) => (i === 0 || head[i] === "Agent" ? "---" : "---:")).join(" | ")} |`;
  return `${[line(head), rule, ...rows.map(line)].join("\n")}\n`;
}

export function timeText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
