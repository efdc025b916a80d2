// `firmware`: what its options are.
#include "command_line.h"
#include "common_options.h"

namespace intarsia::cli {

void CommandLine::add_firmware() {
  DescribedCommand& command =
      add("firmware", "Compile", "a program for a board that runs packages, and is built once");
  command.explain(
      "It holds the kernels that the models call, and memory for the largest of them. A package of "
      "'compile --format executor' runs on it when all of its kernels are there: a network that "
      "was "
      "trained again always, another one where it is made of the same operators and shapes.");
  command.example("intarsia firmware kws.tflite vww.tflite --board mps2-an386 -o fw.elf",
                  "for two networks");
  command.example(
      "intarsia compile kws.tflite --board mps2-an386 --format executor -o kws.intarsia",
      "a package for it");
  command.example("intarsia run kws.intarsia --firmware fw.elf --input in0.bin --output-dir out",
                  "the package on the firmware");
  command.argument(firmware_.models, file_value("MODEL"), "a .tflite, an .onnx or graph text")
      ->required()
      ->check(not_empty);
  command.group("What is written");
  command.option("-o,--output", firmware_.output_file, file_value(), "the program to write")
      ->check(not_empty);
  command
      .option(
          "--sources", firmware_.sources_folder, folder_value(),
          "a folder to write for a firmware of your own: kernels, their table and the executor as "
          "sources")
      ->check(not_empty);
  command
      .option("--package-bytes", firmware_.package_bytes, any_value("BYTES"),
              "room for a package; default: for the largest of the models' and a quarter more")
      ->transform(bytes_text());
  command
      .option("--arena", firmware_.arenas, any_value("MEMORY=BYTES"),
              "room for activations in a memory of the board, where packages will need more than "
              "the models do")
      ->allow_extra_args(false);
  command.flag("--same-interface", firmware_.same_interface,
               "refuse packages whose inputs and outputs are not those of the first model");
  add_common(command, firmware_.common);
  add_timeout(command, firmware_.common);
  command.app().callback([&] { exit_code_ = run_firmware(context_, firmware_); });
}

}  // namespace intarsia::cli
