-- Asks Weir about a request, for HAProxy 2.6 or newer.
--
--   http-request lua.weir weir 100
--
-- The first argument is the backend whose server is Weir, the second how many milliseconds it has to
-- answer. What is refused is answered as Weir says. Otherwise these are set:
--
--   txn.weir_limit, txn.weir_policy    the fields RateLimit and RateLimit-Policy, if a rule applies
--   txn.weir_drop                      true if the connection is to be dropped (`exceed: drop`)
--   txn.weir_down                      true if Weir has not answered: what then is yours to say

-- What Weir believes of a gateway, the client must not say. These are set below, or not at all.
local ours = {
  "x-forwarded-for", "x-forwarded-method", "x-forwarded-uri", "x-forwarded-host",
  "x-weir-namespace", "x-weir-cost",
  -- About the connection or the body, and not ours to pass on.
  "connection", "content-length", "expect", "host", "keep-alive", "te", "transfer-encoding", "upgrade",
}

-- HAProxy counts the lines of a field from 0, Lua from 1.
local function lines(field)
  local list = {}
  for i = 0, #field do list[#list + 1] = field[i] end
  return list
end

-- The address of the first server, by name, whose health checks succeed; nil if there is none.
local function address(backend)
  local first
  for name, server in pairs(core.backends[backend].servers) do
    local up = server:get_stats().status:find("^UP") or server:get_stats().status == "no check"
    if up and (first == nil or name < first) then first = name end
  end
  if first == nil then return nil end
  local where = core.backends[backend].servers[first]:get_addr()
  return where:sub(1, 1) == "/" and "unix@" .. where or where
end

-- HAProxy's own client has room for 101 lines and does not count: with more, 2.6 crashes.
local most_lines = 80

-- nil if there are too many fields.
local function question(txn, where, timeout)
  local headers, count = {}, 0
  for name, field in pairs(txn.http:req_get_headers()) do
    headers[name] = lines(field)
    count = count + #headers[name]
  end
  if count > most_lines then return nil end
  for _, name in ipairs(ours) do headers[name] = nil end
  headers["x-forwarded-for"] = { txn.f:src() }
  headers["x-forwarded-method"] = { txn.f:method() }
  headers["x-forwarded-uri"] = { txn.f:pathq() }
  headers["x-forwarded-host"] = { txn.f:req_hdr("host") }
  return { url = "http://weir/check", dst = where, timeout = tonumber(timeout), headers = headers }
end

-- Fields of the answer that go to the client when it is refused.
local told = { "content-type", "cache-control", "retry-after", "ratelimit", "ratelimit-policy" }

local function refuse(txn, answer)
  local reply = txn:reply { status = answer.status, body = answer.body }
  for _, name in ipairs(told) do
    for _, line in ipairs(lines(answer.headers[name] or {})) do reply:add_header(name, line) end
  end
  txn:done(reply)
end

core.register_action("weir", { "http-req" }, function(txn, backend, timeout)
  local where = address(backend)
  local asked = question(txn, where, timeout)
  if asked == nil then return txn:done(txn:reply { status = 431 }) end
  local answer = where and core.httpclient():get(asked)
  local status = answer and answer.status or 0
  local fields = answer and answer.headers or {}
  local decision = fields["x-weir-decision"] and fields["x-weir-decision"][0]
  if decision == "drop" then
    txn:set_var("txn.weir_drop", true)
  elseif status == 200 then
    if fields["ratelimit"] then txn:set_var("txn.weir_limit", fields["ratelimit"][0]) end
    if fields["ratelimit-policy"] then
      txn:set_var("txn.weir_policy", fields["ratelimit-policy"][0])
    end
  elseif decision or (status >= 400 and status < 500) then
    refuse(txn, answer)  -- by a rule, or because Weir does not understand such a request
  else
    txn:set_var("txn.weir_down", true)
  end
end, 2)
