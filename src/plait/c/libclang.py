"""A small ctypes binding of the part of libclang's C interface that the front end needs.

`clang.cindex` is not used: it costs 35 ms at import and lacks the operator kinds, initialisers and
pretty-printed text. Function names follow the C interface, without the `clang_` prefix.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_longlong, c_uint, c_ulonglong
from ctypes import c_void_p as ptr
from typing import Any

from plait.errors import InputError, PlaitError


class Cursor(Structure):
    _fields_ = (("kind", c_int), ("xdata", c_int), ("data", ptr * 3))


class Type(Structure):
    _fields_ = (("kind", c_int), ("data", ptr * 2))


class _String(Structure):
    _fields_ = (("data", ptr), ("flags", c_uint))


class _Location(Structure):
    _fields_ = (("data", ptr * 2), ("int_data", c_uint))


class Range(Structure):
    _fields_ = (("data", ptr * 2), ("begin", c_uint), ("end", c_uint))


class _UnsavedFile(Structure):
    _fields_ = (("name", c_char_p), ("contents", c_char_p), ("length", ctypes.c_ulong))


_VISITOR = ctypes.CFUNCTYPE(c_int, Cursor, Cursor, ptr)
_FIELD_VISITOR = ctypes.CFUNCTYPE(c_int, Cursor, ptr)

_SIGNATURES: dict[str, tuple[Any, ...]] = {
    # name: (result, argument, ...)
    "getCString": (c_char_p, _String),
    "disposeString": (None, _String),
    "createIndex": (ptr, c_int, c_int),
    "disposeIndex": (None, ptr),
    "parseTranslationUnit2": (
        c_int,
        ptr,
        c_char_p,
        POINTER(c_char_p),
        c_int,
        POINTER(_UnsavedFile),
        c_uint,
        c_uint,
        POINTER(ptr),
    ),
    "disposeTranslationUnit": (None, ptr),
    "getTranslationUnitCursor": (Cursor, ptr),
    "getNumDiagnostics": (c_uint, ptr),
    "getDiagnostic": (ptr, ptr, c_uint),
    "disposeDiagnostic": (None, ptr),
    "getDiagnosticSeverity": (c_int, ptr),
    "getDiagnosticSpelling": (_String, ptr),
    "getDiagnosticLocation": (_Location, ptr),
    "getSpellingLocation": (
        None,
        _Location,
        POINTER(ptr),
        POINTER(c_uint),
        POINTER(c_uint),
        POINTER(c_uint),
    ),
    "getExpansionLocation": (
        None,
        _Location,
        POINTER(ptr),
        POINTER(c_uint),
        POINTER(c_uint),
        POINTER(c_uint),
    ),
    "getFileName": (_String, ptr),
    "getCursorLocation": (_Location, Cursor),
    "getCursorExtent": (Range, Cursor),
    "getRangeStart": (_Location, Range),
    "getRangeEnd": (_Location, Range),
    "Location_isInSystemHeader": (c_int, _Location),
    "visitChildren": (c_uint, Cursor, _VISITOR, ptr),
    "getCursorSpelling": (_String, Cursor),
    "getCursorPrettyPrinted": (_String, Cursor, ptr),
    "getCursorUSR": (_String, Cursor),
    "getCursorType": (Type, Cursor),
    "getCursorReferenced": (Cursor, Cursor),
    "getCursorDefinition": (Cursor, Cursor),
    "getCanonicalCursor": (Cursor, Cursor),
    "getCursorSemanticParent": (Cursor, Cursor),
    "getCursorLinkage": (c_int, Cursor),
    "getCursorTLSKind": (c_int, Cursor),
    "isCursorDefinition": (c_uint, Cursor),
    "hashCursor": (c_uint, Cursor),
    "Cursor_getStorageClass": (c_int, Cursor),
    "Cursor_getVarDeclInitializer": (Cursor, Cursor),
    "Cursor_isBitField": (c_uint, Cursor),
    "Cursor_isAnonymous": (c_uint, Cursor),
    "Cursor_isFunctionInlined": (c_uint, Cursor),
    "Cursor_getOffsetOfField": (c_longlong, Cursor),
    "Cursor_Evaluate": (ptr, Cursor),
    "EvalResult_getKind": (c_int, ptr),
    "EvalResult_getAsLongLong": (c_longlong, ptr),
    "EvalResult_isUnsignedInt": (c_uint, ptr),
    "EvalResult_getAsUnsigned": (c_ulonglong, ptr),
    "EvalResult_getAsDouble": (c_double, ptr),
    "EvalResult_dispose": (None, ptr),
    "getCursorBinaryOperatorKind": (c_int, Cursor),
    "getCursorUnaryOperatorKind": (c_int, Cursor),
    "getFieldDeclBitWidth": (c_int, Cursor),
    "getEnumDeclIntegerType": (Type, Cursor),
    "getEnumConstantDeclValue": (c_longlong, Cursor),
    "getEnumConstantDeclUnsignedValue": (c_ulonglong, Cursor),
    "getCanonicalType": (Type, Type),
    "getTypeSpelling": (_String, Type),
    "getTypeDeclaration": (Cursor, Type),
    "getPointeeType": (Type, Type),
    "getResultType": (Type, Type),
    "getArgType": (Type, Type, c_uint),
    "getNumArgTypes": (c_int, Type),
    "isFunctionTypeVariadic": (c_uint, Type),
    "getArrayElementType": (Type, Type),
    "getArraySize": (c_longlong, Type),
    "isVolatileQualifiedType": (c_uint, Type),
    "isConstQualifiedType": (c_uint, Type),
    "Type_getSizeOf": (c_longlong, Type),
    "Type_getAlignOf": (c_longlong, Type),
    "Type_getValueType": (Type, Type),
    "Type_visitFields": (c_uint, Type, _FIELD_VISITOR, ptr),
}

_OUT_OF_MEMORY = ("failed to map", "annot allocate memory")
_CRASHED = 2  # CXError_Crashed
_CONTINUE = 1
_BREAK = 0


def locate() -> tuple[str, str | None]:
    """The libclang library of the installed wheel, and its resource directory if it has one."""
    name = {"darwin": "libclang.dylib", "win32": "libclang.dll"}.get(sys.platform, "libclang.so")
    override = os.environ.get("PLAIT_LIBCLANG")
    if override:
        candidates = [override]
    else:
        candidates = [os.path.join(root, "clang", "native", name) for root in sys.path if root]
    for path in candidates:
        if os.path.isfile(path):
            resource = os.path.join(os.path.dirname(path), "resource")
            return path, resource if os.path.isdir(resource) else None
    raise InputError("libclang was not found: run 'pip install libclang-ng'")


class Library:
    """The loaded library; one attribute for each bound function."""

    def __init__(self) -> None:
        path, self.resource_dir = locate()
        try:
            handle = ctypes.CDLL(path)
        except OSError as error:
            if any(text in str(error) for text in _OUT_OF_MEMORY):
                raise MemoryError from None
            raise InputError(f"libclang cannot be loaded: {error}") from error
        for name, (result, *arguments) in _SIGNATURES.items():
            try:
                function = getattr(handle, f"clang_{name}")
            except AttributeError as error:
                raise InputError(f"{path} is too old: it lacks clang_{name}") from error
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)
        self._collected: list[Cursor] = []
        self._collector = _VISITOR(self._collect)
        self._field_collector = _FIELD_VISITOR(self._collect_field)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def _collect(self, cursor: Cursor, parent: Cursor, data: int) -> int:
        self._collected.append(cursor)
        return _CONTINUE

    def _collect_field(self, cursor: Cursor, data: int) -> int:
        self._collected.append(cursor)
        return 1

    def children(self, cursor: Cursor) -> list[Cursor]:
        found: list[Cursor] = []
        self._collected = found
        self.visitChildren(cursor, self._collector, None)
        return found

    def fields(self, type_: Type) -> list[Cursor]:
        found: list[Cursor] = []
        self._collected = found
        self.Type_visitFields(type_, self._field_collector, None)
        return found

    def text(self, string: _String) -> str:
        raw = self.getCString(string)
        self.disposeString(string)
        return "" if raw is None else raw.decode("utf-8", "surrogateescape")

    def spelling(self, cursor: Cursor) -> str:
        return self.text(self.getCursorSpelling(cursor))

    def type_spelling(self, type_: Type) -> str:
        return self.text(self.getTypeSpelling(type_))

    def pretty(self, cursor: Cursor) -> str:
        return self.text(self.getCursorPrettyPrinted(cursor, None))

    def file_position(self, location: _Location) -> tuple[str, int, int]:
        """File, line and column in the text that was read (a macro's use, not its definition)."""
        file, line, column = ptr(), c_uint(), c_uint()
        self.getExpansionLocation(
            location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), None
        )
        name = self.text(self.getFileName(file)) if file.value else ""
        return name, line.value, column.value

    def parse(
        self, path: str, arguments: Iterable[str], unsaved: dict[str, bytes] | None = None
    ) -> TranslationUnit:
        flags = [argument.encode("utf-8", "surrogateescape") for argument in arguments]
        argv = (c_char_p * len(flags))(*flags)
        files = [
            _UnsavedFile(name.encode("utf-8", "surrogateescape"), contents, len(contents))
            for name, contents in (unsaved or {}).items()
        ]
        index = self.createIndex(0, 0)
        unit = ptr()
        error = self.parseTranslationUnit2(
            index,
            path.encode("utf-8", "surrogateescape"),
            argv,
            len(flags),
            (_UnsavedFile * len(files))(*files) if files else None,
            len(files),
            0,
            ctypes.byref(unit),
        )
        if error or not unit.value:
            self.disposeIndex(index)
            if error == _CRASHED:  # with little memory, for example
                raise PlaitError(f"{path}: libclang crashed while parsing this file")
            raise InputError(f"{path}: libclang could not parse this file (error {error})")
        return TranslationUnit(self, index, unit)


_WARNING, _ERROR, _FATAL = 2, 3, 4
Message = tuple[str, str, int, int]  # what is said, of which file, line and column


class TranslationUnit:
    """A parsed file; it must outlive every cursor and type taken from it."""

    def __init__(self, library: Library, index: int, handle: ptr) -> None:
        self.library = library
        self._index = index
        self._handle = handle

    def root(self) -> Cursor:
        cursor: Cursor = self.library.getTranslationUnitCursor(self._handle)
        return cursor

    def errors(self) -> list[Message]:
        """Warnings are left out."""
        return self._messages((_ERROR, _FATAL))

    def warnings(self) -> list[Message]:
        return self._messages((_WARNING,))

    def _messages(self, severities: tuple[int, ...]) -> list[Message]:
        library = self.library
        found = []
        for number in range(library.getNumDiagnostics(self._handle)):
            diagnostic = library.getDiagnostic(self._handle, number)
            if library.getDiagnosticSeverity(diagnostic) in severities:
                message = library.text(library.getDiagnosticSpelling(diagnostic))
                location = library.getDiagnosticLocation(diagnostic)
                found.append((message, *library.file_position(location)))
            library.disposeDiagnostic(diagnostic)
        return found

    def close(self) -> None:
        self.library.disposeTranslationUnit(self._handle)
        self.library.disposeIndex(self._index)


_loaded: list[Library] = []


def library() -> Library:
    """The library, loaded on first use."""
    if not _loaded:
        _loaded.append(Library())
    return _loaded[0]
