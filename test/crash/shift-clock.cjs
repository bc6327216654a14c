// Loaded before a process of a cell: its wall clock is off by HOLDFAST_TEST_CLOCK_MS, as eight days later or after a clock was set back.
const offMs = Number(process.env.HOLDFAST_TEST_CLOCK_MS ?? 0);
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offMs);
    else super(...args);
  }
  static now() {
    return RealDate.now() + offMs;
  }
};
