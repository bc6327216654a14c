import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Children that a test runs from the source, hundreds of modules each, find them compiled: a third of the time of their start. */
const NODE_COMPILE_CACHE = fileURLToPath(new URL("node_modules/.cache/test-children", import.meta.url));
const BROWSER = "test/browser/**/*.test.ts";
/** Of a fast run (scripts/test.mjs). */
const LEFT_OUT: string[] = JSON.parse(process.env.HOLDFAST_TESTS_LEFT_OUT || "[]");

export default defineConfig({
  test: {
    env: { NODE_COMPILE_CACHE },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    projects: [
      {
        extends: true,
        test: {
          name: "house",
          include: ["test/**/*.test.ts"],
          exclude: [BROWSER, ...LEFT_OUT],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // After everything else, and one at a time: a browser is several processes, and what it measures must be its own.
        extends: true,
        test: { name: "browser", include: [BROWSER], exclude: LEFT_OUT, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
