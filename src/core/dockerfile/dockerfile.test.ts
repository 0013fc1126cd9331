/** What is understood of a Dockerfile, and what is refused. */
import { describe, expect, test } from "bun:test";
import { type ContextFile, digestOf, readDockerignore, selectFiles } from "./context.ts";
import { DockerfileFault } from "./lines.ts";
import { planBuild } from "./plan.ts";

const refusal = (text: string): string => {
  try {
    planBuild(text);
  } catch (error) {
    if (error instanceof DockerfileFault) return error.message;
    throw error;
  }
  return "accepted";
};

describe("a Dockerfile", () => {
  test("is read with its variables put in", () => {
    const text = `# syntax=docker/dockerfile:1
ARG VERSION=22
FROM team/node:\${VERSION} AS build
ARG VERSION
ARG WHO=world
ENV GREETING="hello $WHO" PATH=/opt/bin:$PATH
ENV LEGACY one two
WORKDIR /srv
WORKDIR app
RUN apt-get update \\
  # a comment between
  && echo "$GREETING"
USER node:node
SHELL ["/bin/bash", "-c"]
RUN ["make", "all"]
RUN make test
COPY --chown=1:2 --chmod=755 "a b" ./src/ lib/
ADD '$WHO' /etc/who
CMD ["x"]
VOLUME /data
EXPOSE 80`;
    const plan = planBuild(text, { VERSION: "24" }, () => ({ env: { PATH: "/bin" }, workdir: "/", user: "" }));
    expect(plan.image).toBe("team/node:24");
    expect(plan.env).toEqual({ GREETING: "hello world", PATH: "/opt/bin:/bin", LEGACY: "one two" });
    expect(plan.steps).toMatchObject([
      {
        line: 10,
        kind: "run",
        argv: ["/bin/sh", "-c", 'apt-get update   && echo "$GREETING"'],
        args: { VERSION: "24", WHO: "world" },
        user: "root",
        workdir: "/srv/app",
      },
      { kind: "run", argv: ["make", "all"], user: "node:node" },
      { kind: "run", argv: ["/bin/bash", "-c", "make test"] },
      { kind: "copy", sources: ["a b", "src"], to: "/srv/app/lib/", chown: "1:2", mode: 0o755 },
      { kind: "copy", sources: ["$WHO"], to: "/etc/who", chown: undefined },
    ]);
  });

  test.each([
    ["", "line 1: It has no FROM"],
    ["RUN true", "line 1: RUN stands before FROM"],
    ["FROM a AS b\nCOPY --from=b x /x", "line 2: COPY --from names no earlier stage and no image: b"],
    ["FROM a\nCOPY --from=0 x /x", "line 2: COPY --from names no earlier stage"],
    ["FROM a AS b\nFROM a\nCOPY --from=b / /x", "line 3: COPY --from takes files and folders, not all of an image"],
    ["FROM a AS -x", "This is no name of a stage"],
    ["FROM a\n".repeat(21), "line 21: There are more than 20 stages"],
    ["FROM scratch", "FROM scratch has no shell"],
    ["FROM --platform=linux/arm64 a", "FROM --platform is not supported"],
    ["FROM -v/:/host", "FROM names no image"],
    ["FROM a\nONBUILD RUN true", "line 2: ONBUILD is for other Dockerfiles"],
    ["FROM a\n\n# why\nRUN --mount=type=secret,id=x true", "line 4: RUN --mount is not supported"],
    ["FROM a\nRUN --network=host true", "RUN --network is not supported"],
    ["FROM a\nRUN cat <<EOF\nx\nEOF", "line 2: Texts with << are not supported"],
    ["FROM a\nCOPY <<EOF /x\ny\nEOF", "line 2: Texts with << are not supported"],
    ["FROM a\nADD https://example.org/x /x", "Download it with RUN"],
    ["FROM a\nADD git@example.org:x.git /x", "Download it with RUN"],
    ["FROM a\nADD x.tar.gz /x", "ADD does not unpack archives here. COPY it"],
    ["FROM a\nADD --from=b x /x", "ADD --from is not supported"],
    ["FROM a\nCOPY --link x /x", "COPY --link is not supported"],
    ["FROM a\nCOPY ../x /x", "leads out of the build's files: ../x"],
    ['FROM a\nENV U=..\nCOPY ["$U/x", "/x"]', "leads out of the build's files: ../x"],
    ["FROM a\nCOPY x", "takes what it copies, and where to"],
    ["# syntax=attacker/frontend:1\nFROM a", "line 1: Another syntax is a program of others"],
    ["# escape=`\nFROM a", "continue lines with \\"],
    ["FROM a\nRUN true \u202e# eslaf", "line 2: It contains a character that nobody sees"],
    ["FROM a\nUSER $(id)", "This is no user"],
    [`FROM a\nENV A=$${"{B?x}"}`, "A variable is put in by"],
    ["FROM a\nENV A='x", "A quote ' is not closed"],
    ["FROM a\nINCLUDE x", "INCLUDE is not an instruction that is supported here"],
  ])("%j is refused: %s", (text, why) => {
    expect(refusal(text)).toContain(why);
  });

  test("may have stages: the last one is the image, and those that it takes nothing from are left out", () => {
    const text = `FROM team/go:1 AS Build
ENV CGO_ENABLED=0
WORKDIR /src
RUN go build
FROM unused AS tests
RUN false
FROM build AS more
RUN more
FROM team/base
COPY --from=build /src/../src/app x* /usr/bin/
COPY --from=2 --chown=1 /out /out
COPY --from=team/tools:2 /bin/tool /bin/
COPY own /own`;
    const plan = planBuild(text);
    expect([plan.image, plan.images]).toEqual(["team/base", ["team/go:1", "team/base", "team/tools:2"]]);
    expect(plan.stages.map(({ isNeeded }) => isNeeded)).toEqual([true, false, true, true]);
    expect(plan.stages[2]).toMatchObject({ from: { stage: 0 }, env: { CGO_ENABLED: "0" }, workdir: "/src" });
    expect(plan.steps.map(({ line }) => line)).toEqual([4, 8, 10, 11, 12, 13]);
    expect(plan.steps.slice(2)).toMatchObject([
      { from: { stage: 0 }, sources: ["src/app", "x*"], to: "/usr/bin/" },
      { from: { stage: 2 }, chown: "1" },
      { from: { image: "team/tools:2" } },
      { from: undefined, sources: ["own"] },
    ]);
    expect(planBuild("FROM a AS one\nFROM one\nFROM 1").image).toBe("1");
  });

  test("more layers than engines take, and variables that grow from one another, are refused", () => {
    expect(refusal(`FROM a\n${"RUN true\n".repeat(61)}`)).toContain("line 62: There are more than 60");
    const many = Array.from({ length: 60 }, (_, at) => `Y${at}=$X`).join(" ");
    expect(refusal(`FROM a\nENV X=${"x".repeat(4_000)}\nENV ${many}`)).toContain("they are too long");
  });
});

describe("the files of a build", () => {
  const file = (path: string, kind: ContextFile["kind"] = "file"): ContextFile => ({ path, kind, oid: path });
  const files = [
    file("a.txt"),
    file("b.txt"),
    file("src/x.ts"),
    file("src/deep/y.ts"),
    file("out", "link"),
    file("log/1"),
  ];
  const select = async (copy: string, ignore = "") => {
    const { steps } = planBuild(`FROM a\n${copy}`);
    const found = [...(await selectFiles(files, steps, readDockerignore(ignore))).values()];
    return found.map(({ files, isOne }) => [isOne, ...files.map(({ path, below }) => `${path} ${below}`)]);
  };
  test.each([
    ["COPY a.txt /x", "", [true, "a.txt a.txt"]],
    ["COPY b*.txt /x", "", [true, "b.txt b.txt"]],
    ["COPY log /x", "", [false, "log/1 1"]],
    ["COPY *.txt /x/", "", [false, "a.txt a.txt", "b.txt b.txt"]],
    ["COPY src /x", "", [false, "src/x.ts x.ts", "src/deep/y.ts deep/y.ts"]],
    ["COPY s?c /x", "", [false, "src/x.ts x.ts", "src/deep/y.ts deep/y.ts"]],
    ["COPY . .", "*\n!src\nsrc/deep", [false, "src/x.ts src/x.ts"]],
    ["COPY . .", "**/*.ts\nlog/\n# out\n/a.txt\nout", [false, "b.txt b.txt"]],
  ])("%s without %j", async (copy, ignore, expected) => {
    expect(await select(copy, ignore)).toEqual([expected]);
  });

  test("what is not there, and a link that is named itself, are refused", async () => {
    await expect(select("COPY none /x")).rejects.toThrow("line 2: none is not among the build's files");
    await expect(select("COPY a.txt /x", "a*")).rejects.toThrow("or .dockerignore leaves it out");
    await expect(select("COPY out /x")).rejects.toThrow("out is a link");
  });

  test("their digest changes with what is copied, and with nothing else", async () => {
    const of = async (all: readonly ContextFile[]) =>
      digestOf((await selectFiles(all, planBuild("FROM a\nCOPY src /x").steps, () => false)).values());
    const before = await of(files);
    expect(before.count).toBe(2);
    expect(await of([...files, file("more")])).toEqual(before);
    expect(await of(files.map((one) => (one.path === "src/x.ts" ? { ...one, oid: "other" } : one)))).not.toEqual(
      before,
    );
  });
});
