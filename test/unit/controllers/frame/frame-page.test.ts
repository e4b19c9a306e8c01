/** docs/internals/writing-a-controller.md shows the exercise as it is compiled and run; the page of the architecture counts the controllers. */
import { expect, it } from "vitest";
import { CONTROLLERS } from "../../../../durable-objects/platform/controllers";

const [page] = Object.values(import.meta.glob("../../../../docs/internals/writing-a-controller.md", { query: "?raw", import: "default" }));
const [architecture] = Object.values(import.meta.glob("../../../../docs/internals/architecture.md", { query: "?raw", import: "default" }));
const [controller] = Object.values(
  import.meta.glob("../../../support/examples/expiring-config-maps.ts", { query: "?raw", import: "default" }),
);
const [tests] = Object.values(import.meta.glob("./frame-exercise.test.ts", { query: "?raw", import: "default" }));

it("the page of controllers: has the text of the exercise and of its tests, which are 80 lines at most", async () => {
  const files = (await Promise.all([controller?.(), tests?.()])) as string[];
  const blocks = [...((await page?.()) as string).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text);
  expect(blocks).toEqual(files);
  expect(files.join("").trimEnd().split("\n").length).toBeLessThanOrEqual(80);
});

it("the page of the architecture: counts the controllers of the table", async () => {
  const { length } = CONTROLLERS.names;
  expect((await architecture?.()) as string).toContain(`All ${length} of ${length} controllers run in the frame`);
});
