import { expect, it } from "vitest";
import type { PodTemplate } from "../../../../../src/api/meta/kubernetes";
import { podTemplatesDefinition } from "../../../../../src/api/registry/pod-templates/definition";
import { create, update } from "../outcomes";

type Template = NonNullable<PodTemplate["template"]>;

const CONTAINER = { name: "main", image: "example.com/image:1" };

function aTemplate(template?: Template): PodTemplate {
  return { metadata: { name: "t", namespace: "ns" }, ...(template ? { template } : {}) };
}

function specOf(changes: Partial<NonNullable<Template["spec"]>> = {}): Template {
  return { spec: { containers: [CONTAINER], ...changes } };
}

it.each<{ name: string; template: Template | undefined; want: string[] }>([
  { name: "with a container", template: specOf(), want: [] },
  { name: "without a template", template: undefined, want: ["template.spec.containers: Required value"] },
  { name: "without a spec", template: {}, want: ["template.spec.containers: Required value"] },
  {
    name: "of bad metadata",
    template: { ...specOf(), metadata: { labels: { "a b": "" }, annotations: { "/x": "" } } },
    want: [
      expect.stringMatching(/^template.labels: Invalid value: "a b": name part must consist of/) as unknown as string,
      'template.annotations: Invalid value: "/x": prefix part must be non-empty',
    ],
  },
  {
    name: "of a bad spec",
    template: specOf({ restartPolicy: "Sometimes", hostname: "a.b" }),
    want: [
      'template.spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
      'template.spec.hostname: Invalid value: "a.b": must not contain dots',
    ],
  },
  {
    name: "of an ephemeral container",
    template: specOf({ ephemeralContainers: [{ name: "debug" }] }),
    want: ["template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"],
  },
])("PodTemplate $name: upstream's errors", ({ template, want }) => {
  expect(create(podTemplatesDefinition, aTemplate(template)).errors).toEqual(want);
});

it("PodTemplate of an earlier release: a template that does not change is not judged again", () => {
  const container = { ...CONTAINER, env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } }] };
  const asking = (cpu: string): PodTemplate =>
    aTemplate(specOf({ restartPolicy: "Sometimes", containers: [{ ...container, resources: { requests: { cpu } } }] }));
  const before = asking("1000m");
  const after = { ...asking("1"), metadata: { ...before.metadata, labels: { a: "b" } } };
  expect(update(podTemplatesDefinition, { before, after }).errors).toEqual([]);
  const other = aTemplate(specOf({ restartPolicy: "Often", containers: [container] }));
  expect(update(podTemplatesDefinition, { before, after: other }).errors).toEqual([
    'template.spec.restartPolicy: Unsupported value: "Often": supported values: "Always", "OnFailure", "Never"',
  ]);
});

it("defaults: those of a Pod's spec, without those that only Pods have", () => {
  const container = { ...CONTAINER, resources: { limits: { cpu: "1" } }, ports: [{ containerPort: 80 }] };
  expect(create(podTemplatesDefinition, aTemplate(specOf({ hostNetwork: true, containers: [container] }))).object.template).toEqual({
    metadata: {},
    spec: {
      hostNetwork: true,
      containers: [
        {
          ...CONTAINER,
          resources: { limits: { cpu: "1" } },
          ports: [{ containerPort: 80, protocol: "TCP" }],
          imagePullPolicy: "IfNotPresent",
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
        },
      ],
      restartPolicy: "Always",
      dnsPolicy: "ClusterFirst",
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      schedulerName: "default-scheduler",
    },
  });
});

it("generation: one more for a changed template, the same for changed labels", () => {
  const { object } = create(podTemplatesDefinition, aTemplate(specOf()));
  expect(object.metadata?.generation).toBe(1);
  const relabelled = { ...object, metadata: { ...object.metadata, labels: { a: "b" } } };
  expect(update(podTemplatesDefinition, { before: object, after: relabelled }).object.metadata?.generation).toBe(1);
  const changed: PodTemplate = { ...object, template: { ...object.template, metadata: { labels: { a: "b" } } } };
  expect(update(podTemplatesDefinition, { before: object, after: changed }).object.metadata?.generation).toBe(2);
});

it("warnings: of a new template, and of an update that changes the template", () => {
  const template = { ...specOf({ imagePullSecrets: [{}] }) };
  const warned = 'template.spec.imagePullSecrets[0].name: invalid empty name ""';
  const made = create(podTemplatesDefinition, aTemplate(template));
  expect(made.warnings).toEqual([warned]);
  const { object } = made;
  const relabelled = { ...object, metadata: { ...object.metadata, labels: { a: "b" } } };
  expect(update(podTemplatesDefinition, { before: object, after: relabelled }).warnings).toEqual([]);
  const changed: PodTemplate = { ...object, template: { ...object.template, metadata: { labels: { a: "b" } } } };
  expect(update(podTemplatesDefinition, { before: object, after: changed }).warnings).toEqual([warned]);
});

it("cells: names and images of the containers, labels of the Pods in order", () => {
  const template = { metadata: { labels: { b: "2", a: "1" } }, ...specOf({ containers: [CONTAINER, { name: "side", image: "i:2" }] }) };
  expect(podTemplatesDefinition.cells(aTemplate(template) as never, 0)).toEqual(["t", "main,side", "example.com/image:1,i:2", "a=1,b=2"]);
  expect(podTemplatesDefinition.cells(aTemplate(specOf()) as never, 0)).toEqual(["t", "main", "example.com/image:1", "<none>"]);
});
