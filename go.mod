module rnic

go 1.26
