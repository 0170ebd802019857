#include "further/any_axis_softmax.cuh"
int main() {}
