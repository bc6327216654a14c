// Chunks: the parts that packs are cut into. How large one is at the most, and where they lie.
export const CHUNK = 8 << 20;
export const CHUNKS = "chunks/";
