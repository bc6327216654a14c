// A child that is the command `holdfast …`, from the source.
import { main } from "../../../src/cli/main.ts";

process.exit(await main(process.argv.slice(2)));
