// What the rehearsal model says in Japanese: the same keys and values as in phrases-english.ts.
import type { ENGLISH } from "./phrases-english.ts";

export const JAPANESE: Record<keyof typeof ENGLISH, string> = {
  introduction: "私はオフラインのリハーサルモデルで、AI ではありません。理解できるのは次のような依頼です:",
  abilities: `このリポジトリを調べるための TODO リストを作成して、その後 Python ファイルを一覧表示して
src の中の TypeScript ファイルを一覧表示して（Markdown、*.go、すべてのファイルなども可）
npm install をバックグラウンドで実行して、README.md を読み続けて
\`npm test\` を実行して
package.json を読んで
src から「agent loop」を検索して
サブタスクを使ってこのプロジェクトのテストフレームワークを調べて
docs の MCP サーバーに接続して agent loop を検索して（設定されている場合）
code-review スキルを読み込んで、最後のコミットをレビューして（ある場合）
タブが好きです。覚えておいて。・何を覚えている？
3分後に会議をリマインドして
タスクを2つ作り、それぞれにワークツリーを作って、alice と bob を起動して。タスクを取る前に計画を提出するよう頼んで。（--stay が必要）
alice の計画を承認して・bob の計画を却下: テストも書いて・alice を終了して・bob に「こんにちは」と伝えて
notes.txt に「こんにちは」と書いて
notes.txt の「foo」を「bar」に置き換えて`,
  advice:
    "「、」「その後」「してから」でつなげられます。コマンドや文字列は「」か ` ` で囲んでください。それ以外の依頼には本物のモデルを設定してください。",
  notUnderstood: "次の部分は理解できなかったため、そこから先は何もしていません:「{part}」",
  noServers: "MCP サーバー {server}: ここには設定されていません。これについては何もしていません。",
  serverFound: "{server} で {query} を検索した結果:",
  noSkills: "ここにはスキルがなく、{name} もありません。これについては何もしていません。",
  skillLoaded: "スキル {name} を読み込みました。内容:",
  remembered: "次の言葉のまま覚えました: {words}",
  nothingRemembered: "このプロジェクトについて覚えていることはありません。",
  recalled: "このプロジェクトについて覚えていること:",
  passedOver: "最後の依頼だけを実行しました。未実行:「{text}」",
  nothingLeft: "その依頼について、残っている作業はありません。",
  nothingToDo: "することはありません。",
  failed: "{name} は失敗しました: {why}",
  noTool: "ツール {name} はここでは使えません。",
  stopped: "そこで中止しました。未実行: {what}",

  do_todo: "TODO リストを書く",
  do_list: "{path|@ の|}{label|@ |}ファイルを探す ({pattern})",
  do_read: "{path} を読む",
  do_run: "{command} を{background|バックグラウンドで|}実行する",
  do_search: "{path|@ から|}「{text}」を検索する",
  do_framework: "テストフレームワークを調べる",
  do_subtask: "サブタスク: {prompt}",
  do_write: "{path} を書く",
  do_edit: "{path} を編集する",
  do_server: "MCP サーバー {server} に接続する{query|（@ を検索）|}",
  do_skill: "スキル {name} を読み込む",
  do_remember: "覚える: {words}",
  do_recall: "覚えていることを言う",
  do_remind: "リマインダーを設定する（{when}）: {what}",
  do_team:
    "チームを用意する{tasks|、タスク @ 件|、タスク @ 件}{worktrees|、ワークツリー|}{mates|、チームメイト @|}{plans|、計画が先|}",
  do_review: "{names|@ の|}計画を{approve|承認|却下}する",
  do_shutdown: "{names|@|全員} を終了する",
  do_message: "{to} にメッセージを送る",
  do_report: "わかったことを報告する",

  followUps: "フォルダーごとに数える\n題名と見出しを確認する\n結果を確認する",
  inspection: "リポジトリのファイルを一覧する\nREADME を読む\nテストフレームワークを調べる\nわかったことを報告する",
  generic: "必要なことを確認する: {subject|@|作業}\n実行する\n結果を確認する",
  genericAdvice:
    "（AI ではないため一般的な項目です。「TODO リスト: 一つ目、二つ目 を作って」のように項目を指定できます。）",
  todoList: "TODO リスト（{all} 件中 {done} 件完了）:",

  noFiles: "{path|@ の|}{label|@ |}ファイルはありません ({pattern})。",
  files: "{path|@ の|}{label|@ |}ファイル {n} 件:",
  more: "… ほか {n} 件",
  byFolder: "フォルダー別: {counts}",
  readSummary: "{path}: {n} 行",
  emptyFile: "{path} は空です。",
  title: "題名: {text}",
  headings: "最初の見出し: {list}",
  begins: "冒頭:",
  matches: "「{text}」: {n} 行が一致",
  noMatches: "「{text}」は見つかりませんでした。",
  written: "{path} を書きました（{n} 文字）。",
  edited: "{path}: 「{oldText}」を「{newText}」に置き換えました。",

  started: "`{command}` をバックグラウンドで実行中です: {placeholder}",
  ran: "`{command}` は終了コード {code} で終わりました。",
  runFailed: "`{command}` は失敗しました: {why}",
  noOutput: "出力はありません。",
  output: "出力{last|（最後の @ 行）|}:",
  job: "バックグラウンドジョブ {id}: {status}{code|（終了コード @）|}。",
  statuses: "完了\n失敗\n強制終了\n制限時間で強制終了\n終了（状態は不明）",
  note: "{from} からの通知: {text}",
  brought: "{from} から {n} 行を受け取りましたが、内容は解釈していません。",

  framework: "テストフレームワーク: {names}",
  evidence: "根拠:",
  alsoSeen: "ファイル中にはほかに次の名前もあります: {names}",
  noFramework: "既知のテストフレームワークは見つかりませんでした。",
  lookedAt: "調べたファイル: {list}",
  noManifest: "マニフェスト（package.json、pyproject.toml、Cargo.toml、go.mod など）はありません。",
  subtaskDone: "サブタスク「{prompt}」の答え:",
  noSubtask: "サブタスクのツールがここでは使えないため、自分で実行しました。",
  subtaskUnknown: "サブタスクのツールがここでは使えず、「{prompt}」は私にも理解できません。",

  reminder: "リマインダー: {what}",
  willRemind:
    "お知らせします: {what}\n{said}\nプロセスが動いている間（ターミナル、`--stay`）は入力なしで届きます。そうでなければ、このコンテキストを次に再開したときに届きます。",

  topics: "ソースファイル\nテスト\n文書\n設定ファイル",
  overview: "{file} を書く: {topic}の概要",
  overviewMore: "{pattern} に一致するファイルの一覧を、ワークツリー直下の {file} に書きます。",
  overviewHead:
    "# {topic}の概要\n\nHoldfast のリハーサルモデル（AI ではありません）が `glob {pattern}` から作りました: {n} 件。",
  overviewDone: "{file} を書きました",
  matePrompt:
    "ボードのタスクを一つずつ、それぞれのワークツリーで進めてください。{plans|タスクを取る前に計画を提出してください。|}",
  needsStay:
    'ワークツリーとチームメイトには動き続けるプロセスが必要ですが、このプロセスは終了します。何もしていません。--stay を付けて起動してください: `holdfast -p --stay "…"`',
  tasksMade: "タスク:",
  genericTasks:
    "（AI ではないため、どのリポジトリにも合う一般的なタスクです。コロンの後に自分のタスクを指定できます。）",
  worktreesMade: "ワークツリー:",
  matesMade: "チームメイト:",
  plansAwaited:
    "先に計画を提出し、それまでタスクは取りません。計画を承認するかどうかはあなたが決めます。届いた計画は報告します。",
  noMates: "ここにはチームメイトがいません。先に起動してください。",
  planArrived: "{name} が計画の承認を求めています ({id}):",
  yourDecision:
    '決めるのはあなたです: ターミナルでは /team、ほかでは `holdfast team approve {id}` または `holdfast team reject {id} "理由"`。「{name} の計画を承認」と私に頼むこともできます。',
  idle: "{name} は待機中です: {text}",
  message: "{name} からのメッセージ: {text}",
  reviewed: "{name} の計画 ({id}) を{approve|承認|却下}しました。",
  noPlan: "{name|@ の計画で|}回答待ちのものはありません。",
  whichPlan: "回答待ちの計画が複数あります（{names}）。誰の計画か、または「すべて」と言ってください。",
  feedbackWanted: "{name} が計画を直せるように理由を添えてください:「{name} の計画を却下: 理由」",
  shutdownAsked: "{name} に終了を求めました: {said}",

  newPlan: "新しい計画です。前の計画へのご意見:「{feedback}」。リハーサルモデルなので、そのまま添えます。",
  plan: `1. 誰も取っていないタスクを一つ取り、そのワークツリーの中だけで作業します。{tasks|
   今のボード:
@|}
2. そこのファイルを glob で見て{files|（今は @ 件）|}、タスクが指定するファイルを一つ書きます。
3. タスクを完了にします。理解できなければ手放し、lead に伝えます。
この計画が承認されるまで、タスクを取らず、何も実行せず、何も変更しません。`,
  planSubmitted: "計画を提出しました: {said}\n決定を待ちます。",
  approved: "計画が承認されました。",
  ready: "準備ができました。ボードの次のタスクを取ります。",
  worksIn: "作業した場所: {dir}",
  taskDone: "{id} が終わりました: {said}",
  notUnderstoodTask: "リハーサルモデルにはこのタスクが理解できないため、何も書いていません:「{subject}」",
  released: "{id} を手放しました。",
  goodbye: "終了します。",
  gotMessage:
    "メッセージを受け取りました:「{text}」。{waits|計画が承認されるまで何もせずに待ちます。|リハーサルモデル（AI ではありません）なので、ボードのタスクと、私が知っている形の依頼だけを行います。}",
};
