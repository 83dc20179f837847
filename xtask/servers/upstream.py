"""A small chat-completions server for LiteLLM to stand in front of. It uses the standard library only.

What it answers depends on the last message of the user, so that a test can ask for every kind of answer. It prints its
port, and then a line for each request that a client cancelled.
"""

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def pieces(text):
    return [word + " " for word in text.split(" ")]


class Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(200, {"object": "list", "data": [{"id": "fake", "object": "model"}]})

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = request["messages"]
        users = [message for message in messages if message["role"] == "user"]
        prompt = json.dumps(users[-1]["content"]) if users else ""
        if "refuse" in prompt:
            return self.reply(400, {"error": {"message": "I refuse this request.", "type": "invalid_request_error"}})
        results = [message for message in messages if message["role"] == "tool"]
        limit = request.get("max_tokens") or request.get("max_completion_tokens") or 1000
        deltas, finish = self.answer(request, prompt, results)
        if len(deltas) > limit:
            deltas, finish = deltas[:limit], "length"
        if not request.get("stream"):
            message = {"role": "assistant", "content": "".join(delta.get("content", "") for delta in deltas)}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return self.reply(200, {"id": "c1", "object": "chat.completion", "created": 1, "model": "fake",
                                    "choices": [choice], "usage": self.usage(len(deltas))})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for at, delta in enumerate(deltas):
                if "die" in prompt and at == 3:
                    # The engine is gone: the body ends without its last chunk.
                    return None
                self.event([{"index": 0, "delta": delta, "finish_reason": None}])
                if "slowly" in prompt:
                    time.sleep(0.05)
            self.event([{"index": 0, "delta": {}, "finish_reason": finish}])
            self.event([], self.usage(len(deltas)))
            self.chunk(b"data: [DONE]\n\n")
            self.chunk(b"")
        except (BrokenPipeError, ConnectionResetError):
            print("cancelled", flush=True)
        return None

    def event(self, choices, usage=None):
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": choices}
        if usage:
            chunk["usage"] = usage
        self.chunk(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def usage(self, output):
        return {"prompt_tokens": 20, "completion_tokens": output, "total_tokens": 20 + output}

    def answer(self, request, prompt, results):
        thought = [{"reasoning_content": piece} for piece in pieces("Let me see.")] if "hink" in prompt else []
        if request.get("tools") and not results and request.get("tool_choice") != "none":
            count = 2 if "parallel" in prompt else 1
            name = request["tools"][0]["function"]["name"]
            calls = []
            for at, city in enumerate(["Paris", "Rome"][:count]):
                function = {"name": name, "arguments": ""}
                calls.append({"tool_calls": [{"index": at, "id": f"call_{at}", "type": "function", "function": function}]})
                for piece in ['{"city": ', f'"{city}"', "}"]:
                    calls.append({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
            return thought + calls, "tool_calls"
        if results:
            text = "The tools say: " + ", ".join(json.dumps(result["content"]) for result in results)
        elif "Count" in prompt or "slowly" in prompt:
            text = " ".join(str(number) for number in range(1, 301))
        else:
            text = "Yes, I am the upstream."
        return thought + [{"content": piece} for piece in pieces(text)], "stop"


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
print(server.server_port, flush=True)
server.serve_forever()
