// How it stands with something, as a sign and a word: never by a colour alone.

interface Look {
  sign: string;
  says: string;
  tone: "busy" | "asks" | "good" | "bad" | "calm";
}

const LOOKS: Readonly<Record<string, Look>> = {
  running: { sign: "▶", says: "running", tone: "busy" },
  waiting: { sign: "◆", says: "waiting", tone: "asks" },
  paused: { sign: "‖", says: "paused", tone: "calm" },
  interrupted: { sign: "✕", says: "interrupted", tone: "bad" },
  failed: { sign: "✕", says: "failed", tone: "bad" },
  completed: { sign: "✓", says: "completed", tone: "good" },
  idle: { sign: "○", says: "idle", tone: "calm" },
  // Of tasks.
  pending: { sign: "○", says: "pending", tone: "calm" },
  blocked: { sign: "◌", says: "blocked", tone: "calm" },
  in_progress: { sign: "▶", says: "in progress", tone: "busy" },
  cancelled: { sign: "–", says: "cancelled", tone: "calm" },
  // What waits for a person.
  approval: { sign: "◆", says: "approval", tone: "asks" },
  plan: { sign: "◆", says: "plan", tone: "asks" },
  question: { sign: "?", says: "question", tone: "asks" },
};

export const lookOf = (status: string): Look =>
  Object.hasOwn(LOOKS, status) ? LOOKS[status]! : { sign: "·", says: status, tone: "calm" };

export function Status({ status }: { status: string }) {
  const { sign, says, tone } = lookOf(status);
  return (
    <span class={`status tone-${tone}`}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {says}
    </span>
  );
}
