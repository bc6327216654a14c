// A child that is the command `holdfast …`, from the source: node cli.ts tasks ls …
import { main } from "../../../src/cli/main.ts";

process.exit(await main(process.argv.slice(2)));
