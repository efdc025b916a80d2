# INPUT as a list of numbers in OUTPUT, for an initialiser.
file(READ ${INPUT} text HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" text "${text}")
file(WRITE ${OUTPUT} "${text}")
