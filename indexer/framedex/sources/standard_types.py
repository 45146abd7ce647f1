"""The built-in and standard library types of C++, by the names in declarations."""

BUILT_IN = frozenset(
    (
        *("void", "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int"),
        *("unsigned int", "long", "unsigned long", "long long", "unsigned long long", "__int128"),
        *("unsigned __int128", "float", "double", "long double", "wchar_t", "char8_t", "char16_t"),
        *("char32_t", "_Float16", "__bf16", "nullptr_t"),
    )
)

BUILT_IN_WORDS = frozenset(word for each in BUILT_IN - {"nullptr_t"} for word in each.split())

NO_TYPE = frozenset(
    (
        *("class", "struct", "enum", "union", "typename", "register", "inline", "restrict", "__restrict"),
        *("__restrict__", "volatile"),
    )
)
"""Words within a type that do not change its meaning."""

SAME_EVERYWHERE = {
    **dict.fromkeys(
        ("size_t", "uint64_t", "uintptr_t", "uintmax_t", "uint_fast64_t", "uint_fast32_t"), "unsigned long"
    ),
    **dict.fromkeys(("ssize_t", "int64_t", "ptrdiff_t", "intptr_t", "intmax_t", "off_t", "time_t"), "long"),
    **{"uint32_t": "unsigned int", "int32_t": "int", "uint16_t": "unsigned short", "int16_t": "short"},
    **{"uint8_t": "unsigned char", "int8_t": "signed char", "nullptr_t": "nullptr_t", "streamsize": "long"},
}
"""Typedefs in <cstddef>, <cstdint> and <sys/types.h> and their types, on 64-bit Linux."""

OF_CHARACTERS = frozenset(
    (
        *("string", "string_view", "ostream", "istream", "iostream", "stringstream", "ostringstream"),
        *("istringstream", "fstream", "ofstream", "ifstream", "streambuf", "stringbuf", "filebuf", "ios"),
        *("regex",),
    )
)
"""Typedefs of class templates with a character type: `string` is `basic_string<char>`."""

STANDARD_CLASSES = OF_CHARACTERS | frozenset(
    (
        *("vector", "map", "set", "unordered_map", "unordered_set", "multimap", "multiset", "list"),
        *("deque", "array", "pair", "tuple", "optional", "variant", "any", "function", "shared_ptr"),
        *("unique_ptr", "weak_ptr", "initializer_list", "atomic", "complex", "bitset", "queue", "stack"),
        *("span", "expected", "reference_wrapper", "thread", "mutex", "recursive_mutex", "unique_lock"),
        *("lock_guard", "condition_variable", "promise", "future", "shared_future", "exception_ptr"),
        *("exception", "type_info", "locale", "error_code", "allocator"),
    )
)
