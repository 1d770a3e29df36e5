import { describe, expect, it } from "@jest/globals";
import { ADMIN, testServer } from "../in-process.testing.ts";

const PATH = "/apis/apps/v1/namespaces/default/deployments";
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
};

describe("server-side apply of a Scale", () => {
  it("is one of the replicas alone: it conflicts, takes over by force", async () => {
    const { send } = await testServer();
    await send(ADMIN, "POST", `${PATH}?fieldManager=creator`, deployment);
    const apply = (replicas: number, manager: string, force = false) =>
      send(
        ADMIN,
        "PATCH",
        `${PATH}/d/scale?fieldManager=${manager}${force ? "&force=true" : ""}`,
        { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" }, spec: { replicas } },
        { "content-type": "application/apply-patch+yaml" },
      );
    const refused = await apply(3, "scaler");
    expect(refused.body.details.causes).toEqual([
      { reason: "FieldManagerConflict", message: 'conflict with "creator" using apps/v1', field: ".spec.replicas" },
    ]);
    expect((await apply(3, "scaler", true)).body).toMatchObject({ kind: "Scale", spec: { replicas: 3 } });
    const { body } = await send(ADMIN, "GET", `${PATH}/d`);
    expect(body.spec.replicas).toBe(3);
    const record = body.metadata.managedFields.find((entry: { manager: string }) => entry.manager === "scaler");
    expect(record).toEqual({
      manager: "scaler",
      operation: "Apply",
      apiVersion: "apps/v1",
      subresource: "scale",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:replicas": {} } },
    });
    expect((await apply(3, "")).code).toBe(422);
    expect(
      (await send(ADMIN, "PATCH", `${PATH}/none/scale?fieldManager=x`, {}, { "content-type": "application/apply-patch+yaml" })).code,
    ).toBe(404);
  });
});
