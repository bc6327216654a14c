// The wording in Japanese for teams and reminders; words-team.ts holds the English and the type.
import type { englishTeam, Topic } from "./words-team.ts";

const TOPICS: Record<Topic, string> = {
  sources: "ソースファイル",
  tests: "テスト",
  docs: "文書",
  config: "設定ファイル",
};

export const japaneseTeam: typeof englishTeam = {
  overviewSubject: (file, topic) => `${file} を書く: ${TOPICS[topic]}の概要`,
  overviewDescription: (file, pattern) =>
    `${pattern} に一致するファイルの一覧を、ワークツリー直下の ${file} に書きます。`,
  matePrompt: (plans) =>
    `ボードのタスクを一つずつ、それぞれのワークツリーで進めてください。${plans ? "タスクを取る前に計画を提出してください。" : ""}`,

  teamStep: (parts) => `チームを用意する（${parts}）`,
  teamParts: {
    tasks: (n) => `タスク ${n} 件`,
    worktrees: "ワークツリー",
    mates: (names) => `チームメイト ${names}`,
    plans: (names) => (names === "" ? "計画" : `${names} の計画`),
  },
  needsStay:
    'ワークツリーとチームメイトには動き続けるプロセスが必要ですが、このプロセスは終了します。何もしていません。--stay を付けて起動してください: `holdfast -p --stay "…"`',
  sayTasks: (n) => `タスクを ${n} 件作ります。`,
  tasksMade: "タスク:",
  tasksFailed: (why) => `タスクを作れませんでした: ${why}`,
  genericTasks:
    "（AI ではないため、どのリポジトリにも合う一般的なタスクです。コロンの後に自分のタスクを指定できます。）",
  sayWorktrees: "タスクごとにワークツリーを作ります。",
  worktreesMade: "ワークツリー:",
  worktreeFailed: (name, why) => `ワークツリー ${name} を作れませんでした: ${why}`,
  sayMates: (names) => `${names} を起動します。`,
  matesMade: "チームメイト:",
  mateFailed: (name, why) => `${name} を起動できませんでした: ${why}`,
  plansAwaited:
    "先に計画を提出し、それまでタスクは取りません。計画を承認するかどうかはあなたが決めます。届いた計画は報告します。",
  sayPlans: (names) => `${names} に計画を求めます。`,
  planAsked: (name, said) => `${name} に計画を求めました: ${said}`,
  planNotAsked: (name, why) => `${name} に計画を求められませんでした: ${why}`,
  noMates: "ここにはチームメイトがいません。先に起動してください。",

  planArrived: ({ name, id }) => `${name} が計画の承認を求めています (${id}):`,
  yourDecision: ({ name, id }) =>
    `決めるのはあなたです: \`holdfast team approve ${id}\` または \`holdfast team reject ${id} "理由"\`（別の端末で）。\`holdfast team send lead "${name} の計画を承認"\` で私に頼むこともできます。`,
  idle: (name, text) => `${name} は待機中です: ${text}`,
  message: (name, text) => `${name} からのメッセージ: ${text}`,

  reviewStep: (names, approve) => `${names === "" ? "" : `${names} の`}計画を${approve ? "承認" : "却下"}する`,
  everyone: "全員",
  sayReview: (name, approve) => `${name} の計画を${approve ? "承認" : "却下"}します。`,
  reviewed: ({ name, id }, approve) => `${name} の計画 (${id}) を${approve ? "承認" : "却下"}しました。`,
  reviewFailed: ({ name, id }, why) => `${name} の計画 (${id}) に回答できませんでした: ${why}`,
  noPlan: (name) => `${name} の計画で回答待ちのものはありません。`,
  noPlans: "回答待ちの計画はありません。",
  whichPlan: (names) => `回答待ちの計画が複数あります（${names}）。誰の計画か、または「すべて」と言ってください。`,
  feedbackWanted: (name) => `${name} が計画を直せるように理由を添えてください:「${name} の計画を却下: 理由」`,
  shutdownStep: (names) => `${names} を終了する`,
  sayShutdown: (names) => `${names} に終了を求めます。`,
  shutdownAsked: (name, said) => `${name} に終了を求めました: ${said}`,
  shutdownFailed: (name, why) => `${name} に終了を求められませんでした: ${why}`,
  messageStep: (name) => `${name} にメッセージを送る`,
  sent: (name, said) => `${name} へのメッセージ: ${said}`,
  notSent: (name, why) => `${name} にメッセージを送れませんでした: ${why}`,

  remindStep: (what, when) => `リマインダーを設定する（${when}）: ${what}`,
  sayRemind: "リマインダーを設定します。",
  reminderPrompt: (what) => `リマインダー: ${what}`,
  willRemind: (what, said) => `お知らせします: ${what}\n${said}`,
  remindHost:
    "プロセスが動いている間（`--stay`）は入力なしで届きます。そうでなければ、このコンテキストを次に再開したときに届きます。",
  remindFailed: (what, why) => `リマインダーを設定できませんでした（${what}）: ${why}`,

  sayLook: "計画の前にボードを見ます。",
  plan: (at) =>
    [
      ...(at.feedback === undefined
        ? []
        : [`新しい計画です。前の計画へのご意見:「${at.feedback}」。リハーサルモデルなので、そのまま添えます。`]),
      "1. 誰も取っていないタスクを一つ取り、そのワークツリーの中だけで作業します。",
      ...(at.tasks.length > 0 ? ["   今のボード:", ...at.tasks.map((task) => `   - ${task}`)] : []),
      `2. そこのファイルを glob で見て${at.files}、タスクが指定するファイルを一つ書きます。`,
      "3. タスクを完了にします。理解できなければ手放し、lead に伝えます。",
      "この計画が承認されるまで、タスクを取らず、何も実行せず、何も変更しません。",
    ].join("\n"),
  filesSeen: (n) => `（今は ${n} 件）`,
  planSubmitted: (said) => `計画を提出しました: ${said}\n決定を待ちます。`,
  planNotSubmitted: (why) => `計画を提出できませんでした: ${why}`,
  ready: "準備ができました。ボードの次のタスクを取ります。",
  approved: "計画が承認されました。",
  sayClaimed: (id) => `${id} に取りかかります。`,
  worksIn: (dir) => `作業した場所: ${dir}`,
  noDir: (why) => `作業場所を確認できませんでした: ${why}`,
  overviewTitle: (topic) => `# ${TOPICS[topic]}の概要`,
  overviewIntro: (pattern, n) =>
    `Holdfast のリハーサルモデル（AI ではありません）が \`glob ${pattern}\` から作りました: ${n} 件。`,
  taskDone: (id, said) => `${id} が終わりました: ${said}`,
  taskNotDone: (id, why) => `${id} を完了にできませんでした: ${why}`,
  doneNote: (file) => `${file} を書きました`,
  notMine: (subject) => `リハーサルモデルにはこのタスクが理解できないため、何も書いていません:「${subject}」`,
  failedWork: (why) => `うまくいきませんでした: ${why}`,
  released: (id) => `${id} を手放しました。`,
  notReleased: (id, why) => `${id} を手放せませんでした: ${why}`,
  goodbye: "終了します。",
  notAnswered: (why) => `終了の要求に回答できませんでした: ${why}`,
  mateAnswer: (text) =>
    `メッセージを受け取りました:「${text}」。リハーサルモデル（AI ではありません）なので、ボードのタスクと、私が知っている形の依頼だけを行います。`,
  mateWaits: (text) => `メッセージを受け取りました:「${text}」。計画が承認されるまで何もせずに待ちます。`,
  nothingToDo: "することはありません。",
};
