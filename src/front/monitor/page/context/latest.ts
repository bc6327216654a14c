// Questions that come quicker than answers: one is under way, the newest waits, those between are never asked.

export interface Latest<Question> {
  ask(question: Question): void;
  /** Nothing is under way or waits any more, and nothing of it is told. */
  end(): void;
}

export interface LatestOptions<Question, Answer> {
  fetch(question: Question, signal: AbortSignal): Promise<Answer>;
  /** Contract: when it is asked, before its answer: for what else is to show the same moment. */
  onAsk?(question: Question): void;
  onAnswer(answer: Answer, question: Question): void;
  onProblem(error: unknown, question: Question): void;
}

export function createLatest<Question, Answer>(options: LatestOptions<Question, Answer>): Latest<Question> {
  let underWay: AbortController | undefined;
  let waiting: { question: Question } | undefined;

  async function run(question: Question): Promise<void> {
    const own = new AbortController();
    underWay = own;
    options.onAsk?.(question);
    try {
      const answer = await options.fetch(question, own.signal);
      if (!own.signal.aborted) options.onAnswer(answer, question);
    } catch (error) {
      if (!own.signal.aborted) options.onProblem(error, question);
    }
    if (underWay !== own) return;
    underWay = undefined;
    const next = waiting;
    waiting = undefined;
    if (next) void run(next.question);
  }

  return {
    ask(question) {
      if (underWay) waiting = { question };
      else void run(question);
    },
    end() {
      underWay?.abort();
      underWay = undefined;
      waiting = undefined;
    },
  };
}
