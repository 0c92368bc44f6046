// Synaptic's hooks for OpenCode. `synaptic setup` writes this file, and `synaptic setup --remove` removes it.
import { spawn } from "node:child_process"

const COMMAND = ["synaptic"]
const EVENTS = ["session-start"]
const TIMEOUT_MS = 10_000

/** What Synaptic tells of this event; empty where it has nothing to say, or anything goes wrong. */
function ask(event, said) {
  return new Promise((resolve) => {
    let out = ""
    const hook = spawn(COMMAND[0], [...COMMAND.slice(1), event], { stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS })
    hook.on("error", () => resolve(""))
    hook.stdin.on("error", () => {})
    hook.stdout.on("data", (data) => (out += data))
    hook.on("close", () => {
      try {
        resolve(JSON.parse(out).hookSpecificOutput.additionalContext ?? "")
      } catch {
        resolve("")
      }
    })
    hook.stdin.end(JSON.stringify(said))
  })
}

export const Synaptic = async ({ directory }) => {
  const told = new Map() // what a session was told of its project
  const inner = new Set() // sessions of subagents, which their parents tell what they need
  const asked = new Set() // sessions in which somebody asked something, to be noted at the end
  const brief = (sessionID) => {
    if (!EVENTS.includes("session-start") || inner.has(sessionID)) return ""
    if (!told.has(sessionID)) told.set(sessionID, ask("session-start", { cwd: directory, session_id: sessionID }))
    return told.get(sessionID)
  }
  return {
    event: async ({ event }) => {
      const info = event.properties?.info
      if (event.type === "session.created" && info?.parentID) inner.add(info.id)
      if (event.type === "session.compacted") told.delete(event.properties?.sessionID)
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const titles = system[0]?.startsWith("You are a title generator")
      if (!sessionID || titles) return
      const text = await brief(sessionID)
      if (text) system.push(text)
    },
    "tool.execute.after": async ({ tool, sessionID, args }, result) => {
      const said = { cwd: directory, session_id: sessionID }
      let text = ""
      if (EVENTS.includes("pre-tool") && /^(edit|write|apply_patch)$/.test(tool))
        text = await ask("pre-tool", { ...said, tool_input: { file_path: args.filePath, input: args.patchText } })
      if (EVENTS.includes("tool-failure") && tool === "bash" && result.metadata?.exit)
        text = await ask("tool-failure", { ...said, error: result.output })
      if (text) result.output += `\n\n${text}`
    },
    dispose: async () => {
      if (EVENTS.includes("session-end")) await Promise.all([...asked].map((id) => ask("session-end", { session_id: id })))
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (!inner.has(sessionID)) asked.add(sessionID)
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic)
      if (!EVENTS.includes("user-prompt") || inner.has(sessionID) || !typed.length) return
      const prompt = typed.map((part) => part.text).join("\n")
      await brief(sessionID) // a prompt repeats nothing of it
      const text = await ask("user-prompt", { cwd: directory, session_id: sessionID, prompt })
      if (text) parts.push({ ...typed[0], id: `${typed[0].id}s`, messageID: message.id, text, synthetic: true })
    },
  }
}
