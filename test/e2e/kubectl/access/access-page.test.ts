/** The recipes of docs/access.md that need kubectl, word for word, at a server as `npm start` is without options. */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubectlCommand } from "../../../support/clients/kubectl-command";
import { recipe } from "../../../support/examples/access-page";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";

const server = serverForTests([], { secure: true });
const folder = temporaryFolder();
beforeAll(() => {
  mkdirSync(join(folder, "bin"));
  symlinkSync(kubectlCommand(), join(folder, "bin", "kubectl"));
  symlinkSync(server.folder, join(folder, ".servicenet"));
});
afterAll(() => removeFolder(folder));

interface Shown {
  code: number | null;
  out: string;
  err: string;
}

/** What a shell makes of it beside the data of the server. */
function shell(text: string, input = ""): Shown {
  const env = { PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`, HOME: folder, KUBECONFIG: server.kubeconfig };
  const { status, stdout, stderr } = spawnSync("sh", ["-ec", text], { cwd: folder, encoding: "utf8", env, input, timeout: 60_000 });
  return { code: status, out: stdout, err: stderr };
}

function linesOf(section: string, having: string): string[] {
  return recipe(section, "", server.url, having).trim().split("\n");
}

/** A role counts within five seconds. */
const settled = (line: string) => expect.poll(() => shell(line).out, { interval: 500 });

describe("docs/access.md", () => {
  it("On a laptop: kubectl with the kubeconfig of the data folder, and curl with its files", () => {
    const [start, ...kubectl] = linesOf("On a laptop", "whoami");
    expect(start).toBe("npm start");
    const shown = shell(kubectl.join("\n"));
    expect(shown).toMatchObject({ code: 0, err: "" });
    expect(shown.out).toMatch(/^Username +admin$/m);
    expect(shown.out).toMatch(/^kubernetes +ClusterIP/m);
    expect(shell(linesOf("On a laptop", "curl").join("\n").replace("curl ", "curl -sS ")).out).toContain('"gitVersion"');
  });

  it("Service accounts: a token for an hour, which has the rights of the account", async () => {
    const [account = "", binding = "", token = ""] = linesOf("Service accounts", "create token");
    for (const line of [account, binding]) expect(shell(line)).toMatchObject({ code: 0, err: "" });
    const { code, out } = shell(token);
    expect(code).toBe(0);
    await settled(
      `kubectl --kubeconfig /dev/null --server ${server.url} --certificate-authority .servicenet/ca.crt --token ${out.trim()} get services -o name`,
    ).toBe("service/kubernetes\n");
  });

  it("Rules: a binding, and what it gives", async () => {
    const [binding = "", one = "", list = ""] = linesOf("Rules", "rolebinding");
    expect(shell(binding)).toMatchObject({ code: 0, err: "" });
    await settled(one).toBe("yes\n");
    expect(shell(list).out).toMatch(/^services +\[\] +\[\] +\[get list watch\]$/m);
  });

  it("Who may name an address: the role is one that kubectl applies", () => {
    expect(shell("kubectl apply -f -", recipe("Who may name an address", "yaml", server.url))).toMatchObject({
      code: 0,
      out: "clusterrole.rbac.authorization.k8s.io/static-addresses created\n",
    });
  });
});
