import CLua
import SignalingRedisCore

/// The library of functions, run by the interpreter that Redis has: Lua 5.1. One process of Redis has one, so what the
/// functions remember ends with it.
final class LuaLibrary {
    /// Carries out a command of a function.
    private let call: ([[UInt8]]) -> RedisReply
    private let lua: OpaquePointer

    /// `redis.call` raises the errors that `redis.pcall` returns: no error may jump over Swift's frames.
    private static let prelude = """
        functions, flags = {}, {}
        redis = { pcall = signalbox_pcall }
        function redis.call(...)
            local reply = redis.pcall(...)
            if type(reply) == 'table' and reply.err then error(reply.err, 0) end
            return reply
        end
        function redis.register_function(declaration)
            functions[declaration.function_name] = declaration.callback
            flags[declaration.function_name] = table.concat(declaration.flags or {}, ' ')
        end
        """

    /// - Returns: `nil` if the code has an error.
    init?(_ code: String, call: @escaping ([[UInt8]]) -> RedisReply) {
        guard let lua = luaL_newstate() else { return nil }
        self.lua = lua
        self.call = call
        luaL_openlibs(lua)
        lua_pushlightuserdata(lua, Unmanaged.passUnretained(self).toOpaque())
        lua_pushcclosure(
            lua,
            { lua in
                guard let lua, let data = lua_touserdata(lua, signalbox_lua_upvalue(1)) else { return 0 }
                Unmanaged<LuaLibrary>.fromOpaque(data).takeUnretainedValue().called()
                return 1
            }, 1)
        signalbox_lua_set_global(lua, "signalbox_pcall")
        // Redis reads the first line, which is not Lua.
        let body = code.drop { $0 != "\n" }
        guard run(Self.prelude), run(String(body)) else { return nil }
    }

    deinit { lua_close(lua) }

    private func run(_ code: String) -> Bool {
        luaL_loadstring(lua, code) == 0 && lua_pcall(lua, 0, 0, 0) == 0
    }

    /// Whether a full Redis carries the function out; `nil` if there is no such function.
    func allowsFull(_ function: String) -> Bool? {
        signalbox_lua_get_global(lua, "flags")
        lua_getfield(lua, -1, function)
        let flags = string(at: -1)
        signalbox_lua_pop(lua, 2)
        return flags.map { String(decoding: $0, as: UTF8.self).contains("allow-oom") }
    }

    func call(_ function: String, keys: [[UInt8]], _ arguments: [[UInt8]]) -> RedisReply {
        signalbox_lua_get_global(lua, "functions")
        lua_getfield(lua, -1, function)
        push(keys)
        push(arguments)
        let outcome = lua_pcall(lua, 2, 1, 0)
        let reply: RedisReply =
            if outcome == 0 { value(at: -1) } else {
                .failure(RedisFailure("ERR " + String(decoding: string(at: -1) ?? [], as: UTF8.self)))
            }
        signalbox_lua_pop(lua, 2)
        return reply
    }

    // MARK: - Commands of a function

    private func called() {
        let arguments = (1...max(1, lua_gettop(lua))).map { string(at: $0) ?? [] }
        push(call(arguments))
    }

    // MARK: - Values

    private func string(at index: Int32) -> [UInt8]? {
        // It would change the type of the value in its place.
        lua_pushvalue(lua, index)
        defer { signalbox_lua_pop(lua, 1) }
        var count = 0
        guard let text = lua_tolstring(lua, -1, &count) else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: text, count: count))
    }

    private func push(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { lua_pushlstring(lua, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count) }
    }

    private func push(_ list: [[UInt8]]) {
        lua_createtable(lua, Int32(list.count), 0)
        for (index, bytes) in list.enumerated() {
            push(bytes)
            lua_rawseti(lua, -2, Int32(index + 1))
        }
    }

    private func push(_ reply: RedisReply) {
        switch reply {
        case .null: lua_pushboolean(lua, 0)
        case .integer(let value): lua_pushnumber(lua, Double(value))
        case .bytes(let bytes): push(bytes)
        case .array(let array):
            lua_createtable(lua, Int32(array.count), 0)
            for (index, element) in array.enumerated() {
                push(element)
                lua_rawseti(lua, -2, Int32(index + 1))
            }
        case .failure(let failure):
            lua_createtable(lua, 0, 1)
            push(Array("\(failure)".utf8))
            lua_setfield(lua, -2, "err")
        }
    }

    private func value(at index: Int32) -> RedisReply {
        switch lua_type(lua, index) {
        case LUA_TNUMBER: return .integer(Int64(lua_tonumber(lua, index)))
        case LUA_TSTRING: return string(at: index).map { .bytes($0) } ?? .null
        case LUA_TTABLE:
            var array: [RedisReply] = []
            while true {
                lua_rawgeti(lua, -1, Int32(array.count + 1))
                defer { signalbox_lua_pop(lua, 1) }
                // Redis ends an array at the first nil.
                if lua_type(lua, -1) == LUA_TNIL { return .array(array) }
                array.append(value(at: -1))
            }
        default: return .null
        }
    }
}
