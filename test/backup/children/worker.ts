// A child that backs up, restores or copies until it is killed: node worker.ts backup|restore|copy STORE PLACE|STORE
import { copyAllLedgers } from "../../../src/backup/copy-store.ts";
import { makeBackup } from "../../../src/backup/make-backup.ts";
import { openPlace } from "../../../src/backup/place.ts";
import { restoreBackup } from "../../../src/backup/restore.ts";
import { openVault } from "../../../src/backup/vault.ts";
import { openSqliteStore } from "../../../src/ledger/sqlite/index.ts";

const [what, file, place] = [process.argv[2]!, process.argv[3]!, process.argv[4]!];
const store = await openSqliteStore(file, { restoring: what === "restore" });
process.stdout.write("begun\n");
if (what === "copy") await copyAllLedgers({ from: store, to: await openSqliteStore(place) });
else {
  const vault = openVault(await openPlace(place, { write: true }), "project-1", undefined);
  if (what === "backup") await makeBackup({ store, vault, path: "/" });
  else await restoreBackup({ vault, to: store, path: "/" });
}
process.stdout.write("done\n");
process.exit(0);
