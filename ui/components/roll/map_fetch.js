// A map of 2,048 events has four million cells: a worker takes them in, so that the page goes on.

const IN_WORKER = `onmessage = async ({ data: { number, address } }) => {
  try {
    const answer = await fetch(address);
    if (!answer.ok || answer.headers.get("Content-Type")?.startsWith("application/json")) throw new Error(answer.status);
    const cells = await answer.arrayBuffer();
    postMessage({ number, cells }, [cells]);
  } catch (error) { postMessage({ number, error: String(error) }); }
};`;

class MapFetcher {
  constructor() { this.number = 0; this.waiting = new Map(); }

  // The bytes of an address.
  fetch(path) {
    if (!this.worker) {
      const script = URL.createObjectURL(new Blob([IN_WORKER], { type: "text/javascript" }));
      this.worker = new Worker(script);
      URL.revokeObjectURL(script);
      this.worker.onmessage = ({ data }) => {
        const { resolve, reject } = this.waiting.get(data.number);
        this.waiting.delete(data.number);
        if (data.cells) resolve(data.cells); else reject(new Error(data.error));
      };
    }
    return new Promise((resolve, reject) => {
      this.waiting.set(++this.number, { resolve, reject });
      this.worker.postMessage({ number: this.number, address: new URL(path, document.baseURI).href });
    });
  }

  close() { this.worker?.terminate(); }
}
