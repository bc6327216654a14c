// A child that repairs a store: node repairer.ts <file>
import { repairSqliteStore } from "../../../src/ledger/sqlite/repair.ts";

await repairSqliteStore(process.argv[2]!);
