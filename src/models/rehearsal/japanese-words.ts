// The wording of every answer in Japanese; words.ts holds the English and the type.
import { japaneseTeam } from "./japanese-words-team.ts";
import type { Intent } from "./request.ts";
import { teamPartsOf } from "./team-parts.ts";
import type { Words } from "./words.ts";

export const japanese: Words = {
  ...japaneseTeam,
  filesName: (f) => `${f.path ? `${f.path} の` : ""}${f.label === "" ? "" : `${f.label} `}ファイル`,

  introduction: "私はオフラインのリハーサルモデルで、AI ではありません。理解できるのは次のような依頼です:",
  abilities: [
    "このリポジトリを調べるための TODO リストを作成して、その後 Python ファイルを一覧表示して",
    "src の中の TypeScript ファイルを一覧表示して（Markdown、*.go、すべてのファイルなども可）",
    "npm install をバックグラウンドで実行して、README.md を読み続けて",
    "`npm test` を実行して",
    "package.json を読んで",
    "src から「agent loop」を検索して",
    "サブタスクを使ってこのプロジェクトのテストフレームワークを調べて",
    "3分後に会議をリマインドして",
    "タスクを2つ作り、それぞれにワークツリーを作って、alice と bob を起動して。タスクを取る前に計画を提出するよう頼んで。（--stay が必要）",
    "alice の計画を承認して・bob の計画を却下: テストも書いて・alice を終了して・bob に「こんにちは」と伝えて",
    "notes.txt に「こんにちは」と書いて",
    "notes.txt の「foo」を「bar」に置き換えて",
  ],
  advice:
    "「、」「その後」「してから」でつなげられます。コマンドや文字列は「」か ` ` で囲んでください。それ以外の依頼には本物のモデルを設定してください。",
  notUnderstood: (part) => `次の部分は理解できなかったため、そこから先は何もしていません:「${part}」`,
  passedOver: (text) => `最後の依頼だけを実行しました。未実行:「${text}」`,
  nothingLeft: "その依頼について、残っている作業はありません。",
  noTool: (name) => `ツール ${name} はここでは使えません。`,
  stopped: (what) => `そこで中止しました。未実行: ${what}`,

  describe(intent: Intent): string {
    switch (intent.kind) {
      case "todo":
        return "TODO リストを書く";
      case "list":
        return `${japanese.filesName(intent.files)}を探す (${intent.files.pattern})`;
      case "read":
        return `${intent.path} を読む`;
      case "run":
        return `${intent.command} を${intent.background ? "バックグラウンドで" : ""}実行する`;
      case "search":
        return `${intent.path ? `${intent.path} から` : ""}「${intent.text}」を検索する`;
      case "framework":
        return "テストフレームワークを調べる";
      case "subtask":
        return `サブタスク: ${intent.prompt}`;
      case "write":
        return `${intent.path} を書く`;
      case "edit":
        return `${intent.path} を編集する`;
      case "team":
        return japanese.teamStep(teamPartsOf(japanese, intent));
      case "review":
        return japanese.reviewStep(intent.names.join("、").replace("*", japanese.everyone), intent.approve);
      case "shutdown":
        return japanese.shutdownStep(intent.names.join("、") || japanese.everyone);
      case "message":
        return japanese.messageStep(intent.to);
      case "remind":
        return japanese.remindStep(intent.what, intent.when);
      case "report":
        return "わかったことを報告する";
    }
  },
  followUp: (intent) =>
    intent.kind === "list"
      ? "フォルダーごとに数える"
      : intent.kind === "read"
        ? "題名と見出しを確認する"
        : "結果を確認する",
  inspection: [
    "リポジトリのファイルを一覧する",
    "README を読む",
    "テストフレームワークを調べる",
    "わかったことを報告する",
  ],
  generic: (subject) => [`必要なことを確認する: ${subject || "作業"}`, "実行する", "結果を確認する"],
  genericAdvice:
    "（AI ではないため一般的な項目です。「TODO リスト: 一つ目、二つ目 を作って」のように項目を指定できます。）",

  sayTodo: "まず TODO リストを作ります。",
  todoList: (done, of) => `TODO リスト（${of} 件中 ${done} 件完了）:`,
  todoFailed: (why) => `TODO リストを書けませんでした: ${why}`,

  sayList: (f) => `${japanese.filesName(f)}を探します。`,
  noFiles: (f) => `${japanese.filesName(f)}はありません (${f.pattern})。`,
  files: (f, n) => `${japanese.filesName(f)} ${n} 件:`,
  more: (n) => `… ほか ${n} 件`,
  byFolder: (counts) => `フォルダー別: ${counts}`,
  listFailed: (f, why) => `${japanese.filesName(f)}を一覧できませんでした: ${why}`,

  sayRead: (path) => `${path} を読みます。`,
  readSummary: (path, n) => `${path}: ${n} 行`,
  emptyFile: (path) => `${path} は空です。`,
  title: (text) => `題名: ${text}`,
  headings: (list) => `最初の見出し: ${list}`,
  begins: "冒頭:",
  readFailed: (path, why) => `${path} を読めませんでした: ${why}`,

  sayRun: (command, background) => `\`${command}\` を${background ? "バックグラウンドで" : ""}実行します。`,
  started: (command, placeholder) => `\`${command}\` をバックグラウンドで実行中です: ${placeholder}`,
  ran: (command, code) => `\`${command}\` は終了コード ${code} で終わりました。`,
  runFailed: (command, why) => `\`${command}\` は失敗しました: ${why}`,
  noOutput: "出力はありません。",
  output: "出力:",
  lastLines: (n) => `出力（最後の ${n} 行）:`,
  job: (id, status, code) =>
    `バックグラウンドジョブ ${id}: ${STATUS[status] ?? status}${code === undefined ? "" : `（終了コード ${code}）`}。`,
  note: (from, text) => `${from} からの通知: ${text}`,
  brought: (from, n) => `${from} から ${n} 行を受け取りましたが、内容は解釈していません。`,
  noMcp: (part) => `「${part}」: このバージョンではまだ MCP サーバーに接続できません。これについては何もしていません。`,

  saySearch: (text) => `「${text}」を検索します。`,
  matches: (text, n) => `「${text}」: ${n} 行が一致`,
  noMatches: (text) => `「${text}」は見つかりませんでした。`,
  searchFailed: (text, why) => `「${text}」の検索に失敗しました: ${why}`,

  sayManifests: "プロジェクトのマニフェストを探します。",
  sayEvidence: "マニフェストを読み、既知のテストフレームワークを検索します。",
  framework: (names) => `テストフレームワーク: ${names}`,
  evidence: "根拠:",
  alsoSeen: (names) => `ファイル中にはほかに次の名前もあります: ${names}`,
  noFramework: "既知のテストフレームワークは見つかりませんでした。",
  lookedAt: (list) => `調べたファイル: ${list}`,
  noManifest: "マニフェスト（package.json、pyproject.toml、Cargo.toml、go.mod など）はありません。",

  saySubtask: "サブタスクを開始します。",
  subtaskDone: (prompt) => `サブタスク「${prompt}」の答え:`,
  subtaskFailed: (prompt, why) => `サブタスク「${prompt}」は失敗しました: ${why}`,
  noSubtask: "サブタスクのツールがここでは使えないため、自分で実行しました。",
  subtaskUnknown: (prompt) => `サブタスクのツールがここでは使えず、「${prompt}」は私にも理解できません。`,

  sayWrite: (path) => `${path} を書きます。`,
  written: (path, n) => `${path} を書きました（${n} 文字）。`,
  writeFailed: (path, why) => `${path} は書けませんでした: ${why}`,
  sayEdit: (path) => `${path} を編集します。`,
  edited: (path, from, to) => `${path}: 「${from}」を「${to}」に置き換えました。`,
  editFailed: (path, why) => `${path} は変更していません: ${why}`,
};

const STATUS: Record<string, string> = {
  completed: "完了",
  failed: "失敗",
  killed: "強制終了",
  timeout: "制限時間で強制終了",
  unknown: "終了（状態は不明）",
};
