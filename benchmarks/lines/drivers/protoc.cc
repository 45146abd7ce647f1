// A workload for protobuf: its compiler, with the generator of C++ alone.

#include <google/protobuf/compiler/command_line_interface.h>
#include <google/protobuf/compiler/cpp/generator.h>

int main(int argc, char** argv) {
  google::protobuf::compiler::CommandLineInterface compiler;
  google::protobuf::compiler::cpp::CppGenerator generator;
  compiler.RegisterGenerator("--cpp_out", "--cpp_opt", &generator, "C++");
  return compiler.Run(argc, argv);
}
