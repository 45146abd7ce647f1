// Explains a failure of pip in a sentence with its remedy: pip's own last line seldom names the cause.

interface Cause {
  readonly sign: RegExp;
  readonly told: string;
}

const CAUSES: readonly Cause[] = [
  { sign: /No space left on device|Errno 28/, told: "the disk is full." },
  {
    sign: /CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerificationError/,
    told:
      "the package index's certificate is not trusted here. Behind a proxy that has its own, name that: " +
      "pip config set global.cert FILE.",
  },
  {
    sign: /(?:NewConnection|NameResolution|Proxy|ConnectionReset)Error|(?:Connect|Read)Timeout|connection broken|Max retries exceeded/i,
    told:
      "pip cannot reach the package index. Check the network; a proxy or an index of your own is named by " +
      "pip config set global.proxy URL, or global.index-url.",
  },
];

/** The reason of the failure, from pip's whole output. */
export function explainPipFailure(printed: string): string {
  const cause = CAUSES.find(({ sign }) => sign.test(printed));
  if (cause !== undefined) {
    return cause.told;
  }
  const lines = printed.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const error = lines.filter((line) => /^error:/i.test(line)).at(-1)?.replace(/^error:\s*/i, "");
  return error ?? lines.at(-1) ?? "pip printed nothing.";
}
