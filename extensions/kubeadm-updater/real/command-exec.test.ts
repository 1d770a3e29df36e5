import { mkdtempSync, rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { commandExec } from "./command-exec.ts";

// The local shell stands for the machine: the template is what makes it another one.
describe("a machine reached by a command", () => {
  let folder = "";
  const exec = commandExec({ template: ["sh", "-c"], address: "10.0.0.1", stageCommand: ["mkdir", "-p", "{version}"] });
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "command-exec-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("passes words through the shell unchanged, and tells code and output", async () => {
    expect(await exec.run(["printf", "%s|", "a b", "it's", "$HOME", "*"])).toEqual({ code: 0, stdout: "a b|it's|$HOME|*|", stderr: "" });
    expect(await exec.run(["sh", "-c", "echo no >&2; exit 3"])).toMatchObject({ code: 3, stderr: "no\n" });
  });

  it("writes a file whole, with owner and mode, and reads it back", async () => {
    const owner = `${userInfo().username}:${userInfo().username}`;
    const path = join(folder, "deep/er/file");
    await exec.write(path, "line 1\nit's\n", { owner, permissions: "0640" });
    expect(await exec.read(path)).toBe("line 1\nit's\n");
    expect((await exec.attributes(path))?.permissions).toBe("0640");
    expect(await exec.read(join(folder, "absent"))).toBeUndefined();
    expect(await exec.attributes(join(folder, "absent"))).toBeUndefined();
  });

  it("tells a machine that cannot be reached from a command that failed", async () => {
    const gone = commandExec({ template: ["sh", "-c", "exit 255 #"], address: "10.0.0.9", stageCommand: [] });
    await expect(gone.run(["true"])).rejects.toMatchObject({ code: "HostUnreachable" });
    const none = commandExec({ template: ["/no/such/program"], address: "10.0.0.9", stageCommand: [] });
    await expect(none.run(["true"])).rejects.toMatchObject({ code: "HostUnreachable" });
  });
});
