// Errors are worded for whoever reads them: a program, a model, a person; those of the system in plain words.
import fs from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { errorText } from "../../src/cli/error-text.ts";
import { HoldfastError, messageOf } from "../../src/ledger/error.ts";
import { makeDir } from "../../src/ledger/make-dir.ts";
import { resultOfError } from "../../src/loop/next-step.ts";
import { scratch } from "../turn.ts";

test("what helps next is worded by each door for its reader", () => {
  const error = new HoldfastError("not_found", "there is no task task_9", { next: "list tasks" });
  expect([error.what, error.message, resultOfError(error).content, errorText(error)]).toEqual([
    "there is no task task_9",
    "there is no task task_9: list() says which there are",
    "there is no task task_9: list_tasks says which there are",
    "there is no task task_9: see `holdfast tasks ls`",
  ]);
});

test("errors of the system are plain sentences about a path", () => {
  const dir = scratch(onTestFinished);
  const file = join(dir, "file");
  fs.writeFileSync(file, "");
  fs.symlinkSync("loop", join(dir, "loop"));
  const said = (work: () => unknown) => {
    try {
      work();
      return "nothing";
    } catch (error) {
      return messageOf(error).replaceAll(dir, "DIR");
    }
  };
  expect([
    said(() => fs.readFileSync(join(dir, "none"))),
    said(() => fs.readdirSync(join(file, "below"))),
    said(() => fs.readFileSync(dir)),
    said(() => fs.mkdirSync(file)),
    said(() => fs.readFileSync(join(dir, "loop"))),
    said(() => fs.writeFileSync("/dev/full", "x")),
    said(() => makeDir(join(file, "below"))),
    said(() => makeDir("/proc/none/at/all")),
  ]).toEqual([
    "DIR/none is not there",
    "DIR/file/below cannot be: a part of this path is a file, not a folder",
    "the file is a folder, not a file",
    "DIR/file is there already",
    "DIR/loop is a link that is not followed, or leads in a circle",
    "the file cannot be written: the disk is full (ENOSPC); make room",
    "DIR/file/below cannot be: a part of this path is a file, not a folder",
    "/proc/none cannot be made: nothing can be made there",
  ]);
});

test("a folder is made with its parents, once, whoever else makes it", () => {
  const dir = scratch(onTestFinished);
  makeDir(join(dir, "a/b/c"));
  makeDir(join(dir, "a/b/c"));
  expect(fs.statSync(join(dir, "a/b/c")).isDirectory()).toBe(true);
});
