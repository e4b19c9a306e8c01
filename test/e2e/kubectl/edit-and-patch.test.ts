import { beforeAll, describe, expect, it } from "vitest";
import { kubectlInCluster } from "../../support/clients/kubectl";
import { lease, list, pod, service } from "./objects";

const kubectl = kubectlInCluster();
const { ok, refused } = kubectl;

const ports = [
  { name: "http", port: 80 },
  { name: "https", port: 443 },
];
const get = (path: string, name = "service/web") => ok(`get ${name} -o jsonpath=${path}`);

beforeAll(() => {
  const file = kubectl.file(
    "all.json",
    list(service("web", { ports }, { labels: { tier: "one" } }), service("other"), lease("l1"), pod("p1")),
  );
  ok(`create -f ${file}`);
});

describe("kubectl edit", () => {
  const edit = (line: string, body: string) => kubectl.run(line, { env: { KUBE_EDITOR: kubectl.editor("edit.sh", body) } });

  it("a changed text: saved", () => {
    expect(edit("edit service web", 'sed -i -e "s/tier: one/tier: two/" "$1"')).toEqual({ code: 0, out: "service/web edited\n", err: "" });
    expect(get("{.metadata.labels.tier}")).toBe("two");
    expect(edit("edit svc/web -o json", `sed -i -e 's/"tier": "two"/"tier": "three"/' "$1"`)).toMatchObject({ code: 0 });
    expect(get("{.metadata.labels.tier}")).toBe("three");
  });

  it("an unchanged text: nothing sent", () => {
    const version = get("{.metadata.resourceVersion}");
    expect(edit("edit service web", "true")).toEqual({ code: 0, out: "", err: "Edit cancelled, no changes made.\n" });
    expect(get("{.metadata.resourceVersion}")).toBe(version);
  });

  it("a refusal: the editor opens again with the reason", () => {
    const seen = kubectl.file("seen.txt", "");
    const body = [
      `if grep -q "was not valid" "$1"; then cp "$1" ${seen}; sed -i -e "s/Nope/ClientIP/" "$1"`,
      `else sed -i -e "s/sessionAffinity: None/sessionAffinity: Nope/" "$1"; fi`,
    ].join("\n");
    const { code, out, err } = edit("edit service web", body);
    expect({ code, out, err }).toEqual({ code: 0, out: "service/web edited\n", err: 'error: services "web" is invalid\n' });
    expect(get("{.spec.sessionAffinity}")).toBe("ClientIP");
    const reopened = kubectl.run(`create -f ${seen} --dry-run=client -o jsonpath={.spec.sessionAffinity}`);
    expect(reopened.out).toBe("Nope");
  });

  it("the type, ClusterIP to NodePort and back: saved", () => {
    const address = get("{.spec.clusterIP}");
    edit("edit service web", 'sed -i -e "s/type: ClusterIP/type: NodePort/" "$1"');
    expect(get("{.spec.type}/{.spec.ports[0].nodePort}/{.spec.clusterIP}")).toMatch(new RegExp(`^NodePort/3[0-2]\\d{3}/${address}$`));
    edit("edit service web", 'sed -i -e "s/type: NodePort/type: ClusterIP/" "$1"');
    expect(get("{.spec.type}/{.spec.ports[0].nodePort}/{.spec.clusterIP}")).toBe(`ClusterIP//${address}`);
  });

  it("several objects and other types: saved", () => {
    expect(
      edit("edit svc/other lease/l1", 'sed -i -e "s/^\\( *\\)name: \\(other\\|l1\\)$/\\1name: \\2\\n\\1labels: {by: edit}/" "$1"'),
    ).toMatchObject({
      code: 0,
    });
    expect(ok("get svc,lease -l by=edit -o name")).toBe("service/other\nlease.coordination.k8s.io/l1");
    expect(refused("edit service missing")).toBe('Error from server (NotFound): services "missing" not found');
  });
});

describe("kubectl patch", () => {
  it("strategic (the default): merges lists by key; $patch: delete and null remove", () => {
    expect(ok(`patch service web -p '{"spec":{"ports":[{"port":80,"targetPort":8080}]}}'`)).toBe("service/web patched");
    expect(get("{.spec.ports[*].name}/{.spec.ports[*].targetPort}")).toBe("http https/8080 443");
    ok(`patch service web -p '{"spec":{"ports":[{"port":443,"$patch":"delete"}]},"metadata":{"labels":{"tier":null,"more":"yes"}}}'`);
    expect(get("{.spec.ports[*].name}/{.metadata.labels}")).toBe('http/{"more":"yes"}');
    const yaml = kubectl.file("patch.yaml", "spec:\n  ports:\n  - name: https\n    port: 443\n");
    ok(`patch service web --patch-file ${yaml}`);
    expect(get("{.spec.ports[*].name}").split(" ").sort()).toEqual(["http", "https"]);
  });

  it("merge: lists are replaced, null removes", () => {
    expect(ok(`patch service web --type=merge -p '{"spec":{"ports":[{"name":"only","port":81}],"sessionAffinity":null}}'`)).toBe(
      "service/web patched",
    );
    expect(get("{.spec.ports[*].name}/{.spec.sessionAffinity}")).toBe("only/None");
  });

  it("json: applies operations in order, none when one fails", () => {
    expect(
      ok(
        `patch service web --type=json -p '[{"op":"replace","path":"/spec/ports/0/port","value":82},{"op":"add","path":"/metadata/labels/x","value":"y"}]'`,
      ),
    ).toBe("service/web patched");
    expect(get("{.spec.ports[0].port}/{.metadata.labels.x}")).toBe("82/y");
    const failing = `patch service web --type=json -p '[{"op":"remove","path":"/metadata/labels/x"},{"op":"test","path":"/spec/ports/0/port","value":1}]'`;
    expect(refused(failing)).toBe("The request is invalid: the server rejected our request due to an error in our request");
    expect(refused(`patch service web --type=json -p '[{"op":"remove","path":"/nope"}]'`)).toBe(
      "The request is invalid: the server rejected our request due to an error in our request",
    );
    expect(get("{.metadata.labels.x}")).toBe("y");
  });

  it("a patch without effect: reported, the resourceVersion stays", () => {
    const version = get("{.metadata.resourceVersion}");
    expect(ok(`patch service web -p '{"metadata":{"labels":{"x":"y"}}}'`)).toBe("service/web patched (no change)");
    expect(get("{.metadata.resourceVersion}")).toBe(version);
  });

  it("--dry-run=server: stores nothing; --subresource=status: changes the status alone", () => {
    expect(ok(`patch service web -p '{"spec":{"sessionAffinity":"ClientIP"}}' --dry-run=server -o jsonpath={.spec.sessionAffinity}`)).toBe(
      "ClientIP",
    );
    expect(get("{.spec.sessionAffinity}")).toBe("None");
    ok(`patch service web -p '{"spec":{"type":"LoadBalancer"}}'`);
    ok(
      `patch service web --subresource=status -p '{"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.9"}]}},"spec":{"sessionAffinity":"ClientIP"}}'`,
    );
    expect(get("{.status.loadBalancer.ingress[0].ip}/{.spec.sessionAffinity}")).toBe("203.0.113.9/None");
    ok(`patch service web -p '{"spec":{"type":"ClusterIP"},"status":{"loadBalancer":null}}'`);
  });

  it("other types: patched", () => {
    expect(ok(`patch lease l1 -p '{"spec":{"holderIdentity":"me"}}'`)).toBe("lease.coordination.k8s.io/l1 patched");
    expect(ok(`patch servicecidr kubernetes --type=merge -p '{"metadata":{"labels":{"a":"b"}}}'`)).toBe(
      "servicecidr.networking.k8s.io/kubernetes patched",
    );
    expect(ok(`patch ipaddress 10.96.0.1 --type=json -p '[{"op":"add","path":"/metadata/labels/a","value":"b"}]'`)).toBe(
      "ipaddress.networking.k8s.io/10.96.0.1 patched",
    );
  });
});

describe("kubectl label and annotate", () => {
  it("label: adds, keeps, overwrites, removes", () => {
    expect(ok("label service other a=1 b=2")).toBe("service/other labeled");
    expect(ok("label service other a=1")).toBe("service/other not labeled");
    expect(refused("label service other a=2")).toBe("error: 'a' already has a value (1), and --overwrite is false");
    expect(ok("label service other a=2 --overwrite")).toBe("service/other labeled");
    expect(ok("label service other b-")).toBe("service/other unlabeled");
    expect(ok("label service other --list").split("\n").sort()).toEqual(["a=2", "by=edit"]);
    expect(ok("label service other c-").split("\n")).toEqual(['label "c" not found.', "service/other not labeled"]);
  });

  it("label --list of several objects: under the name of each", () => {
    expect(ok("label services --all --list").split("\n")).toEqual(
      expect.arrayContaining([
        "Listing labels for Service./kubernetes:",
        " component=apiserver",
        " provider=kubernetes",
        "Listing labels for Service./other:",
      ]),
    );
  });

  it("label by selector and --all: changes the selected objects", () => {
    expect(ok("label services -l a=2 picked=yes")).toBe("service/other labeled");
    expect(ok("label services --all picked=all --overwrite").split("\n")).toEqual(
      ["kubernetes", "other", "web"].map((name) => `service/${name} labeled`),
    );
    expect(ok("label ns default stage=test")).toBe("namespace/default labeled");
  });

  it("label with a stale resourceVersion: refused", () => {
    expect(refused("label service other d=1 --resource-version=1")).toBe(
      'Error from server (Conflict): Operation cannot be fulfilled on services "other": the object has been modified; please apply your changes to the latest version and try again',
    );
    expect(ok(`label service other d=1 --resource-version=${get("{.metadata.resourceVersion}", "service/other")}`)).toBe(
      "service/other labeled",
    );
  });

  it("label with bad keys and values: refused", () => {
    expect(refused("label service other 'a b=c'")).toMatch(
      /^The Service "other" is invalid: metadata\.labels: Invalid value: "a b": name part must consist of alphanumeric characters/,
    );
    expect(refused(`label service other a=${"x".repeat(64)} --overwrite`)).toContain("must be no more than 63 ");
  });

  it("annotate: adds, overwrites, removes, refuses what is too long", () => {
    expect(ok("annotate service other note='a b'")).toBe("service/other annotated");
    expect(refused("annotate service other note=c")).toBe(
      "error: --overwrite is false but found the following declared annotation(s): 'note' already has a value (a b)",
    );
    expect(ok("annotate service other note=c --overwrite")).toBe("service/other annotated");
    expect(ok("annotate service other --list")).toContain("note=c");
    expect(ok("annotate service other note-")).toBe("service/other annotated");
    expect(get("{.metadata.annotations}", "service/other")).toBe("");
    const patch = kubectl.file("long.json", { metadata: { annotations: { long: "x".repeat(262_145) } } });
    expect(refused(`patch service other --patch-file ${patch}`)).toBe(
      'The Service "other" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
    );
  });
});

describe("kubectl set", () => {
  it("selector and image: set", () => {
    expect(ok("set selector service other app=set")).toBe("service/other selector updated");
    expect(get("{.spec.selector}", "service/other")).toBe('{"app":"set"}');
    expect(ok("set selector service other app=set,tier=back")).toBe("service/other selector updated");
    expect(get("{.spec.selector}", "service/other")).toBe('{"app":"set","tier":"back"}');
    expect(ok("set selector service other app=dry --dry-run=server")).toBe("service/other selector updated (server dry run)");
    expect(ok("set selector --local -f - app=local -o jsonpath={.spec.selector}", ok("get service other -o json"))).toBe('{"app":"local"}');
    expect(refused("set selector service other app=stale --resource-version=1")).toContain("the object has been modified");
    expect(refused("set selector pod p1 app=x")).toBe("error: setting a selector is only supported for Services");
    expect(get("{.spec.selector}", "service/other")).toBe('{"app":"set","tier":"back"}');
    expect(ok("set image pod/p1 main=example.com/main:2")).toBe("pod/p1 image updated");
    expect(get("{.spec.containers[0].image}", "pod/p1")).toBe("example.com/main:2");
    expect(refused("set env pod/p1 A=b")).toContain('Pod "p1" is invalid: spec: Forbidden: pod updates may not change fields other than');
  });
});
