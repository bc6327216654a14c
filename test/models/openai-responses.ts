// The items of the Responses wire, as the tests of it write them.
export const id = "openai-responses/test-model";
export const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 };
export const said = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
export const answered = (text: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
export const called = (call_id: string, args = "{}") => ({
  type: "function_call",
  call_id,
  name: "read_file",
  arguments: args,
});
export const output = (call_id: string, value: unknown) => ({ type: "function_call_output", call_id, output: value });
export const sealed = (rs: string, encrypted_content: string, summary: unknown[] = []) =>
  ({ type: "reasoning", id: rs, summary, encrypted_content }) as const;
