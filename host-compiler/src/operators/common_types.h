// Lists of operand types that several families have.
#pragma once

#include "graph/type_rule.h"

namespace intarsia::operators {

using enum DataType;

// One operand.
inline constexpr graph::TypeRule kReal[] = {{Float32, Float32}};
inline constexpr graph::TypeRule kLogic[] = {{Bool, Bool}};
inline constexpr graph::TypeRule kInt8OrReal[] = {{Int8, Int8}, {Float32, Float32}};
inline constexpr graph::TypeRule kNumber[] = {{Int8, Int8}, {Int16, Int16}, {Float32, Float32}};

// Two operands.
inline constexpr graph::TypeRule kTwoReals[] = {{Float32, Float32, Float32}};
inline constexpr graph::TypeRule kTwoLogic[] = {{Bool, Bool, Bool}, {Int32, Int32, Int32}};
inline constexpr graph::TypeRule kTwoNumbers[] = {
    {Int8, Int8, Int8}, {Int16, Int16, Int16}, {Float32, Float32, Float32}};
inline constexpr graph::TypeRule kTwoNumbersOrInt32[] = {
    {Int8, Int8, Int8}, {Int16, Int16, Int16}, {Int32, Int32, Int32}, {Float32, Float32, Float32}};

}  // namespace intarsia::operators
